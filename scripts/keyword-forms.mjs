// npm run forms: writes src/redact/keyword-forms.ts from the keywords in the build. A test fails when it is stale.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, runTool } from './run.mjs'

const HEAD = `// Made by \`npm run forms\`. Do not edit by hand.

/** How the keywords of the default rules look within base64: every recorder needs them before it hands the first message on, and to work them out takes a millisecond or two. */
export const KEYWORD_FORMS: readonly string[] =`

const load = (name) => import(pathToFileURL(join(root, 'dist', 'redact', `${name}.js`)).href)
const { defaultForms } = await load('keywords')
const file = join('src', 'redact', 'keyword-forms.ts')
writeFileSync(join(root, file), `${HEAD} ${JSON.stringify(defaultForms())}\n`)
process.exitCode = runTool('oxfmt', [file])
