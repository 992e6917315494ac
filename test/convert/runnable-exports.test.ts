import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { installRunners, modules, newman, playwright } from '../../scripts/runners.mjs'
import { importTape } from '../../src/convert/import-tape.ts'
import { REELAY, start } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { startServing } from '../support/serving.ts'

const folder = sharedFolder()
const tape = join(folder, 'notes.tape.jsonl')
const changed = join(folder, 'changed.tape.jsonl')
const env = { ...process.env, REELAY_HOME: folder }

beforeAll(async () => {
  await importTape(readFileSync('test/fixtures/foreign/notes.jsonl'), { tape })
  // Another answer to the last call that succeeds.
  writeFileSync(changed, readFileSync(tape, 'utf8').replace('"price":30.0', '"price":31'))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  installRunners()
  mkdirSync(join(folder, 'e2e'))
  symlinkSync(modules, join(folder, 'e2e', 'node_modules'))
}, 300_000)

/** Each format with the command that runs a file. `npm run exports` does the same with k6, which takes many minutes to build. */
const RUNNERS: Readonly<
  Record<string, { readonly file: string; readonly command: (file: string) => readonly string[] }>
> = {
  'node-test': { file: 'notes.test.mjs', command: (file) => [process.execPath, '--test', file] },
  vitest: {
    file: 'notes.vitest.test.mjs',
    command: (file) => [
      process.execPath,
      resolve('node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      folder,
      file,
    ],
  },
  playwright: {
    file: 'e2e/notes.spec.mjs',
    command: (file) => [process.execPath, playwright, 'test', '--reporter=line', basename(file)],
  },
  postman: {
    file: 'notes.json',
    // The URL of the server is a variable of the collection.
    command: (file) => [
      'sh',
      '-c',
      `exec "$0" "$1" run "$2" --env-var "mcp_url=$MCP_URL"`,
      process.execPath,
      newman,
      file,
    ],
  },
  curl: { file: 'notes.sh', command: (file) => ['sh', file] },
}

describe.each(Object.keys(RUNNERS))('an export to %s', (format) => {
  const { file, command } = RUNNERS[format]!
  const path = join(folder, file)

  test(
    'passes against the served tape, and carries the id that the server makes up',
    { timeout: 60_000 },
    async () => {
      const { err } = await reelay('export', tape, '--format', format, '-o', path)
      expect(err).toContain('lost: ')
      const { code, out } = await runAgainst(tape, command(path), dirname(path))
      expect([code, out]).toEqual([0, out])
      expect(await runAgainst(tape, command(withOtherId(path)), dirname(path))).toMatchObject({ code: 0 })
    },
  )

  test('fails against a server with one other answer', { timeout: 60_000 }, async () => {
    const { code, out } = await runAgainst(changed, command(path), dirname(path))
    expect(code).not.toBe(0)
    expect(out).toContain('#4 tools/call read')
  })
})

/** The same file, recorded against a server that made up another id: only a carried value fits the tape then. */
function withOtherId(path: string): string {
  const other = path.replace('notes', 'other')
  writeFileSync(other, readFileSync(path, 'utf8').replaceAll('95a84a3b-7808-4919', '11111111-2222-4333'))
  return other
}

async function runAgainst(
  served: string,
  command: readonly string[],
  cwd = folder,
): Promise<{ readonly code: number | null; readonly out: string }> {
  const serving = await startServing(served, '--http', '0')
  const run = start(command, { cwd, env: { ...env, MCP_URL: serving.urls()[0], NO_COLOR: '1' } })
  const { code } = await run.exited
  await serving.stop()
  return { code, out: run.stdout().toString() + run.stderr() }
}

async function reelay(...args: readonly string[]): Promise<{ readonly out: string; readonly err: string }> {
  const run = start([process.execPath, REELAY, ...args], { env, cwd: folder })
  const { code } = await run.exited
  if (code !== 0) throw new Error(run.stderr())
  return { out: run.stdout().toString(), err: run.stderr() }
}
