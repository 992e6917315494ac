// npm run docs: writes docs/errors.md from the list of codes in the build. A test fails when the page is stale.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './run.mjs'

const EXITS = [
  [1, 'the answer is no: a miss, a difference, a failed check'],
  [2, 'the command line does not make sense'],
  [3, 'it could not run'],
]

const INTRO = `# Errors

<!-- Made by \`npm run docs\` from src/errors.ts. Do not edit by hand. -->

Every error that Reelay reports has one of these codes. It is printed on stderr as \`reelay: CODE message\`, with a hint on the next line where there is one; in the library it is the \`code\` of a \`ReelayError\`. \`REELAY_DEBUG=1\` adds the stack trace.

Exit code 0 means yes, and 130 means interrupted. \`reelay record\` ends with the exit code of the server that it ran.`

const { ERROR_CODES } = await import(pathToFileURL(join(root, 'dist', 'errors.js')).href)
const page = `${[INTRO, ...EXITS.map(section)].join('\n\n')}\n`
if (process.argv.includes('--print')) process.stdout.write(page)
else writeFileSync(join(root, 'docs', 'errors.md'), page)

function section([exit, meaning]) {
  const codes = Object.entries(ERROR_CODES).filter(([, entry]) => entry.exit === exit)
  const items = codes.map(([code, { about }]) => `- \`${code}\`: ${about}`)
  return [`## Exit code ${exit}: ${meaning}`, '', ...items].join('\n')
}
