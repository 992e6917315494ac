// npm run patterns: writes src/redact/prefilter/default-image.ts from the rules in the build. A test fails when it is stale.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, runTool } from './run.mjs'

const HEAD = `// Made by \`npm run patterns\`. Do not edit by hand.
import type { PrefilterImage } from './tables.ts'

/** What the default rules look for: every recorder needs it before it hands the first message on, and to work it out takes milliseconds. */
export const DEFAULT_IMAGE: PrefilterImage =`

const load = (name) => import(pathToFileURL(join(root, 'dist', 'redact', 'prefilter', `${name}.js`)).href)
const { buildDefaultImage } = await load('build-default-image')
const file = join('src', 'redact', 'prefilter', 'default-image.ts')
writeFileSync(join(root, file), `${HEAD} ${JSON.stringify(buildDefaultImage())}\n`)
process.exitCode = runTool('oxfmt', [file])
