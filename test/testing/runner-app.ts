import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { start } from '../support/recorder.ts'
import { modules } from '../../scripts/runners.mjs'

/** A project of a user: Reelay as it is published, the SDK, an agent, and test files. */
export function makeApp(
  files: Readonly<Record<string, string>>,
  vitest: string = resolve('node_modules/vitest'),
): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'reelay-app-')))
  const installed = join(folder, 'node_modules', 'reelay')
  mkdirSync(installed, { recursive: true })
  cpSync('package.json', join(installed, 'package.json'))
  for (const part of ['cli', 'lib', 'schema', 'ui', 'vendor'])
    cpSync(join('dist', part), join(installed, 'dist', part), { recursive: true })
  symlinkSync(vitest, join(folder, 'node_modules', 'vitest'))
  for (const name of ['@modelcontextprotocol', 'zod'])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  symlinkSync(join(modules, '@playwright'), join(folder, 'node_modules', '@playwright'))
  mkdirSync(join(folder, 'node_modules', '.bin'))
  const programs = join(folder, 'node_modules', '.bin')
  symlinkSync(join(installed, 'dist', 'cli', 'main.js'), join(programs, 'reelay'))
  symlinkSync(join(folder, 'node_modules', 'vitest', 'vitest.mjs'), join(programs, 'vitest'))
  cpSync('test/fixtures/servers/catalogue.mjs', join(folder, 'server.mjs'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  writeFileSync(join(folder, 'agent.mjs'), AGENT)
  writeFileSync(join(folder, 'agent.cjs'), AGENT_CJS)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

const BODY = `(transport, queries) {
  const client = new Client({ name: 'agent', version: '1' })
  await client.connect(transport)
  const failed = []
  for (const query of queries)
    await client.callTool({ name: 'search', arguments: { query } }).catch(({ message }) => failed.push(message))
  await client.close()
  return failed
}
`
const SDK = '@modelcontextprotocol/sdk/client/index.js'
const AGENT = `import { Client } from '${SDK}'\nexport async function triage${BODY}`
const AGENT_CJS = `const { Client } = require('${SDK}')\nexports.triage = async function ${BODY}`

interface RunOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a program to its end, without the variables of the test runner that runs this. */
export async function runProgram(
  command: readonly string[],
  { cwd, env = {} }: RunOptions,
): Promise<{ readonly code: number | null; readonly out: string }> {
  const own = /^(VITEST|NODE_ENV|NODE_OPTIONS|NODE_TEST_CONTEXT)/
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)))
  const run = start(command, { cwd, env: { ...clean, CI: '', NO_COLOR: '1', ...env } })
  const { code } = await run.exited
  return { code, out: `${run.stdout().toString()}${run.stderr()}` }
}

/** Runs a program of Node to its end. */
export function runNode(
  args: readonly string[],
  { node = process.execPath, ...options }: RunOptions & { readonly node?: string },
): ReturnType<typeof runProgram> {
  return runProgram([node, ...args], options)
}

/** Each runner indents messages in its own way. */
export function withoutIndent(text: string): string {
  return text.replaceAll(/^[ \t]+|[ \t]+$/gm, '').replaceAll(/\n{2,}/g, '\n')
}
