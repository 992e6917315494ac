import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const DIST = join(import.meta.dirname, '..', '..', 'dist')
/** Folders with other forms of the same modules, and with files that are not modules. */
const NOT_MODULES = ['packed', 'lib', 'types', 'vendor', 'schema', 'ui']
/** Programs, which do their work when they are started or imported. */
const PROGRAMS = [
  join(DIST, 'cli', 'main.js'),
  // Each registers itself with a test runner, and can only be imported in it.
  ...['vitest', 'jest', 'node-test', 'playwright'].map((runner) => join(DIST, 'testing', `${runner}.js`)),
]

/** Imports one module after the other, and prints those after which something of the process is different. */
const CHILD = `
const state = () => JSON.stringify([
  { ...process.env },
  Object.getOwnPropertyNames(globalThis).length,
  process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  process.getActiveResourcesInfo().filter((name) => /Timeout|Interval|TCP|UDP|Process|Watch/.test(name)),
  process.argv,
  process.cwd(),
])
for (const file of JSON.parse(process.argv[1])) {
  const before = state()
  await import(file)
  if (state() !== before) console.log(file)
}
`

test('no module has an effect when it is imported: no output, listener, timer, variable or file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'reelay-imports-'))
  const files = modulesIn(DIST).filter((file) => !PROGRAMS.includes(file))
  expect(files.length).toBeGreaterThan(400)
  const env = { PATH: process.env['PATH'], HOME: folder, REELAY_HOME: join(folder, 'home') }
  const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD, '--', JSON.stringify(files)], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  expect({ output, code, written: readdirSync(folder) }).toEqual({ output: '', code: 0, written: [] })
  rmSync(folder, { recursive: true, force: true })
})

function modulesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return folder === DIST && NOT_MODULES.includes(entry.name) ? [] : modulesIn(path)
    return entry.name.endsWith('.js') ? [path] : []
  })
}
