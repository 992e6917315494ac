import { expect, test } from 'vitest'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixtureServer, record, REELAY, start, temporaryFolder, type Running } from '../support/recorder.ts'

const SECRET = 'hunter2-and-more'
const IN_ARGV = 'key-1122334455'
// Reports cut values short, and this one within its token.
const CUT = `${'-'.repeat(40)} ghp_${'aB3'.repeat(12)}`
const ANY_SECRET = /hunter2|key-1122|ghp_aB3/
const call = (id: number, password: string, note: string): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'login', arguments: { password, note } },
  })

async function tapeOf(home: string): Promise<string> {
  const run = record(fixtureServer('repeat'), { env: { ...process.env, REELAY_HOME: home } })
  run.child.stdin.write(`${call(1, SECRET, `my password is ${SECRET}`)}\n`)
  await run.line('"id":1')
  run.child.stdin.end()
  await run.exited
  return run.tape
}

function serve(tape: string, home: string): Running {
  return start([process.execPath, REELAY, 'serve', tape], { env: { ...process.env, REELAY_HOME: home } })
}

test('a client that sends the real secret, or the stand-in it was given, is answered from a redacted tape', async () => {
  const home = temporaryFolder()
  const tape = await tapeOf(home)
  const standIn = /"password":"([^"]+)"/.exec(readFileSync(tape, 'utf8'))?.[1] ?? ''
  expect(standIn).not.toBe(SECRET)
  for (const password of [SECRET, standIn]) {
    const run = serve(tape, home)
    run.child.stdin.end(`${call(7, password, `my password is ${password}`)}\n`)
    expect(await run.line('"id":7')).toContain(`"password":"${standIn}"`)
    expect(await run.exited).toEqual({ code: 0, signal: null })
    expect(run.stderr()).not.toContain(SECRET)
  }
})

test('without the key the miss says that it is for want of the key, and shows no secret', async () => {
  const tape = await tapeOf(temporaryFolder())
  const run = serve(tape, temporaryFolder())
  run.child.stdin.end(`${call(7, SECRET, 'x')}\n`)
  const answer = await run.line('"id":7')
  expect(answer).toContain('REDACTION_MISMATCH')
  expect((await run.exited).code).toBe(1)
  expect(run.stderr()).toMatch(
    /REDACTION_MISMATCH: .* made with the key k-[0-9a-f]{8}, which is not available; set REELAY_REDACTION_KEY/,
  )
  expect(answer + run.stderr()).not.toContain(SECRET)
})

test('a request that nests deeper than any stack is a miss, and the next one is answered', async () => {
  const home = temporaryFolder()
  const run = serve(await tapeOf(home), home)
  const deep = `{"password":"${SECRET}","d":${'[1,'.repeat(50_000)}0${']'.repeat(50_000)}}`
  run.child.stdin.write(
    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"login","arguments":${deep}}}\n`,
  )
  expect(await run.line('"id":7')).toContain('ARGUMENT_DRIFT')
  run.child.stdin.end(`${call(8, SECRET, `my password is ${SECRET}`)}\n`)
  expect(await run.line('"id":8')).toContain('"result"')
  await run.exited
})

test('a request without a secret that is not on the tape is an ordinary miss', async () => {
  const tape = await tapeOf(temporaryFolder())
  const run = serve(tape, temporaryFolder())
  run.child.stdin.end(
    `${JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'login', arguments: { note: 'x' } } })}\n`,
  )
  expect(await run.line('"id":7')).toContain('ARGUMENT_DRIFT')
  await run.exited
})

test('what is shown of a tape with secrets shows none, nor a part of one, and neither does an error', async () => {
  const run = record(fixtureServer('repeat', '--api-key', IN_ARGV), { options: ['--no-redact', '-q'] })
  run.child.stdin.write(`${call(1, SECRET, 'x')}\n${call(2, 'no', CUT)}\n`)
  await run.line('"id":2')
  run.child.stdin.end()
  await run.exited
  for (const args of [
    ['inspect', '-v', run.tape],
    ['inspect', '--json', run.tape],
    ['tail', run.tape],
  ]) {
    const shown = start([process.execPath, REELAY, ...args])
    await shown.exited
    expect(shown.stdout().toString()).toContain('login')
    expect(shown.stdout().toString()).not.toMatch(ANY_SECRET)
  }
  const missed = serve(run.tape, temporaryFolder())
  missed.child.stdin.end(`${call(7, `${SECRET}-2`, 'x')}\n${call(8, 'no', `${CUT}x`)}\n`)
  const answers = [await missed.line('"id":7'), await missed.line('"id":8')]
  await missed.exited
  expect(missed.stderr()).toContain('ARGUMENT_DRIFT')
  expect(answers.join() + missed.stderr()).not.toMatch(ANY_SECRET)
  const wrong = start([process.execPath, REELAY, 'record', '--url', `ftp://bob:${SECRET}@host/mcp`])
  await wrong.exited
  expect(wrong.stderr()).toContain('URL_INVALID')
  expect(wrong.stderr()).not.toContain(SECRET)
})

// No rule tells it: it was known from the environment of the recorder alone.
const ONLY_IN_ENV = 'correct-horse-battery'
const greet = (id: number, args: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'greet', arguments: args } })

async function tapeOfEnv(home: string, args: object): Promise<string> {
  const env = { ...process.env, REELAY_HOME: home, SERVICE_PASSWORD: ONLY_IN_ENV }
  const run = record(fixtureServer('repeat'), { env })
  run.child.stdin.write(`${greet(1, args)}\n`)
  await run.line('"id":1')
  run.child.stdin.end()
  await run.exited
  expect(readFileSync(run.tape, 'utf8')).not.toContain(ONLY_IN_ENV)
  return run.tape
}

async function served(
  tape: string,
  home: string,
  line: string,
  ...flags: readonly string[]
): Promise<{ answer: string; stderr: string }> {
  const env = { ...process.env, REELAY_HOME: home }
  const run = start([process.execPath, REELAY, 'serve', tape, ...flags], { env })
  run.child.stdin.end(`${line}\n`)
  const answer = await run.line('"id":7')
  await run.exited
  return { answer, stderr: run.stderr() }
}

test.each([
  ['alone', ONLY_IN_ENV],
  ['in a sentence', `say ${ONLY_IN_ENV}, please`],
  ['behind a name', `word=${ONLY_IN_ENV};x=1`],
  ['in a URL', `https://h/?w=${encodeURIComponent(`${ONLY_IN_ENV} `)}`],
  ['in base64', Buffer.from(`xy ${ONLY_IN_ENV}`).toString('base64')],
])('with the key, a value that only the recorder knew is known by its stand-in: %s', async (_, word) => {
  const home = temporaryFolder()
  const tape = await tapeOfEnv(home, { word, lang: 'en' })
  const { answer, stderr } = await served(tape, home, greet(7, { word, lang: 'en' }))
  expect(answer).toContain('"result"')
  expect(answer + stderr).not.toContain(ONLY_IN_ENV)
})

test('a value within a word that only the recorder knew is known from a file of secrets', async () => {
  const home = temporaryFolder()
  const word = `x${ONLY_IN_ENV}y`
  const tape = await tapeOfEnv(home, { word })
  const file = join(temporaryFolder(), 'secrets.env')
  writeFileSync(file, `WORD=${ONLY_IN_ENV}\n`, { mode: 0o600 })
  expect((await served(tape, home, greet(7, { word }))).answer).toContain('ARGUMENT_DRIFT')
  expect((await served(tape, home, greet(7, { word }), '--secrets', file)).answer).toContain('"result"')
})

test('where nothing but a stand-in is in the way, the miss says so, and shows the live value nowhere', async () => {
  const home = temporaryFolder()
  const tape = await tapeOfEnv(home, { word: `say ${ONLY_IN_ENV}`, lang: 'en' })
  const other = greet(7, { word: 'say incorrect-horse-battery', lang: 'en' })
  const { answer, stderr } = await served(tape, home, other)
  expect(stderr).toMatch(
    /why +REDACTION_MISMATCH: the tape has a placeholder at params\.arguments\.word, and the request has another value than the recorded one there; secrets of the recorder were in these variables: .*SERVICE_PASSWORD/,
  )
  expect(answer).toContain('"reason":"REDACTION_MISMATCH"')
  expect(answer + stderr).not.toContain('incorrect-horse')
  const drift = await served(tape, home, greet(7, { word: 'say incorrect-horse-battery', lang: 'de' }))
  expect(drift.answer).toContain('ARGUMENT_DRIFT')
  expect(drift.answer + drift.stderr).not.toContain('incorrect-horse')
})

test('without the key, a value that no rule tells is a mismatch where the tape has what looks like a stand-in of it', async () => {
  const tape = await tapeOfEnv(temporaryFolder(), { word: '7d9f4b1c2a5e8d3f60718293a4b5c6d7', n: 1 })
  const env = {
    ...process.env,
    REELAY_HOME: temporaryFolder(),
    SERVICE_PASSWORD: '7d9f4b1c2a5e8d3f60718293a4b5c6d7',
  }
  const run = record(fixtureServer('repeat'), { env })
  run.child.stdin.end(`${greet(1, { word: '7d9f4b1c2a5e8d3f60718293a4b5c6d7', n: 1 })}\n`)
  await run.exited
  const { answer, stderr } = await served(
    run.tape,
    temporaryFolder(),
    greet(7, { word: '7d9f4b1c2a5e8d3f60718293a4b5c6d7', n: 1 }),
  )
  expect(answer).toContain('"reason":"REDACTION_MISMATCH"')
  expect(stderr).toMatch(
    /the value of the tape at params\.arguments\.word looks like a placeholder made with the key k-\w+, which is not available; set REELAY_REDACTION_KEY/,
  )
  expect(answer + stderr).not.toContain('7d9f4b1c')
  const plain = await served(
    tape,
    temporaryFolder(),
    greet(7, { word: '7d9f4b1c2a5e8d3f60718293a4b5c6d8', n: 1 }),
  )
  expect(plain.answer).toContain('ARGUMENT_DRIFT')
})
