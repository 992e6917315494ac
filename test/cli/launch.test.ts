import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fixtureServer, REELAY, start, temporaryFolder } from '../support/recorder.ts'

const CALL = '{"jsonrpc":"2.0","id":1,"method":"m"}\n'

async function record(home: string): Promise<string> {
  const tape = join(temporaryFolder(), 'x.tape.jsonl')
  const env = { ...process.env, REELAY_HOME: home, NODE_OPTIONS: '' }
  const run = start(
    [process.execPath, REELAY, 'record', '-q', '-o', tape, '--', ...fixtureServer('answer-calls')],
    {
      env,
    },
  )
  run.child.stdin.end(CALL)
  expect(await run.exited).toEqual({ code: 0, signal: null })
  expect(readFileSync(tape, 'utf8')).toContain('"method":"m"')
  return run.stdout().toString()
}

function cacheIn(home: string): string {
  const folder = join(home, 'code-cache')
  const [name = '', ...more] = readdirSync(folder)
  expect(more).toEqual([])
  return join(folder, name)
}

test('the first recorder leaves compiled code behind that only its owner can read, and the next one uses it', async () => {
  const home = temporaryFolder()
  const first = await record(home)
  const cache = cacheIn(home)
  const { mtimeMs, mode } = statSync(cache)
  expect(mode & 0o077).toBe(0)
  expect(await record(home)).toBe(first)
  expect(statSync(cache).mtimeMs).toBe(mtimeMs)
})

test.each<[string, (cache: string) => void]>([
  ['is cut short', (cache) => writeFileSync(cache, readFileSync(cache).subarray(0, 5000))],
  ['is empty', (cache) => writeFileSync(cache, '')],
  ['was damaged on the disk', (cache) => writeFileSync(cache, readFileSync(cache).fill(90, 5000, 90_000))],
  ['is no compiled code at all', (cache) => writeFileSync(cache, 'aa'.repeat(50_000))],
])('compiled code that %s is not run but replaced', async (_, harm) => {
  const home = temporaryFolder()
  const first = await record(home)
  const cache = cacheIn(home)
  harm(cache)
  const harmed = readFileSync(cache)
  expect(await record(home)).toBe(first)
  expect(readFileSync(cache).equals(harmed)).toBe(false)
})

test.skipIf(process.platform === 'win32')(
  'compiled code that others could have written is not run',
  async () => {
    const home = temporaryFolder()
    const first = await record(home)
    const cache = cacheIn(home)
    chmodSync(cache, 0o666)
    expect(await record(home)).toBe(first)
    expect(statSync(cache).mode & 0o077).toBe(0)
  },
)

test('compiled code that was left behind long ago is removed', async () => {
  const home = temporaryFolder()
  mkdirSync(join(home, 'code-cache'))
  const left = join(home, 'code-cache', 'record-reelay-1-2-v20.0.0-x64.bin')
  writeFileSync(left, '')
  utimesSync(left, new Date('2026-01-01'), new Date('2026-01-01'))
  await record(home)
  expect(cacheIn(home)).not.toBe(left)
})

test('a served tape starts from compiled code too, whatever it has to load', async () => {
  const env = { ...process.env, REELAY_HOME: temporaryFolder(), NODE_OPTIONS: '' }
  const tape = join(temporaryFolder(), 'x.tape.jsonl')
  const recorder = start(
    [process.execPath, REELAY, 'record', '-q', '-o', tape, '--', ...fixtureServer('answer-calls')],
    { env },
  )
  recorder.child.stdin.end(CALL)
  await recorder.exited
  for (const options of [[], [], ['--pace', 'none'], ['--pace', 'none']]) {
    const served = start([process.execPath, REELAY, 'serve', tape, ...options], { env })
    served.child.stdin.end(CALL)
    expect((await served.exited).code).toBe(0)
    expect(served.stdout().toString()).toBe(recorder.stdout().toString())
    expect(served.stderr()).not.toContain('Warning')
  }
  expect(readdirSync(join(env.REELAY_HOME, 'code-cache')).join()).toContain('serve-')
})

test('a first run that loads many files says nothing of it', async () => {
  const [tape, env] = [
    join(temporaryFolder(), 'x.tape.jsonl'),
    { REELAY_HOME: temporaryFolder(), NODE_OPTIONS: '', CI: '' },
  ]
  for (const mode of ['once', 'new-episodes']) {
    const live = ['--mode', mode, '--', ...fixtureServer('answer-calls')]
    const run = start([process.execPath, REELAY, 'serve', tape, ...live], { env: { ...process.env, ...env } })
    run.child.stdin.write(CALL.replace('"m"', `"${mode}"`))
    await run.line('"id":1')
    run.child.stdin.end()
    await run.exited
    expect(run.stderr()).not.toContain('Warning')
  }
})
