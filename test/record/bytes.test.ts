import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadTape, openTape } from '../../src/store/file/read.ts'
import { fixtureServer, linesOf, record } from '../support/recorder.ts'
import { costlyCases } from '../support/cases.ts'

const message = fc.record({
  jsonrpc: fc.constant('2.0'),
  id: fc.oneof(fc.integer(), fc.string()),
  method: fc.string(),
  params: fc.jsonValue(),
})
const wellFormed = message.map((value) => `${JSON.stringify(value)}\n`)
const garbage = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes))
const odd = fc.constantFrom(
  '\n',
  '\r\n',
  '{"a":1}\r\n',
  '42\n',
  '[]\n',
  'print("hello")\n',
  '{"torn',
  '\ufeff{}\n',
)
const stream = fc.array(fc.oneof(wellFormed, odd, garbage), { maxLength: 30 })

test('bytes are identical in both directions, whatever they are and however they are split', async () => {
  const check = fc.asyncProperty(stream, fc.integer({ min: 1, max: 4000 }), async (pieces, chunkSize) => {
    const sent = Buffer.concat(pieces.map((piece) => Buffer.from(piece)))
    const run = record(fixtureServer('echo-bytes'))
    for (let at = 0; at < sent.length; at += chunkSize)
      run.child.stdin.write(sent.subarray(at, at + chunkSize))
    run.child.stdin.end()
    expect((await run.exited).code).toBe(0)
    expect(run.stdout().equals(sent)).toBe(true)
    const tape = await loadTape(run.tape)
    expect(tape.problems).toEqual([])
    expect(tape.ended).toBe(true)
  })
  await fc.assert(check, costlyCases(6))
})

test('a message keeps its bytes on the tape: key order, number spelling, escapes, spaces', async () => {
  const text =
    '{ "result" : {"n":1.0,"big":12345678901234567890,"e":1E5,"u":"\\u00e9é"}, "jsonrpc":"2.0","id":0 }'
  const run = record(fixtureServer('echo-bytes'))
  run.child.stdin.end(`${text}\n`)
  await run.exited
  const kept = readFileSync(run.tape, 'utf8').split(`"msg":${text}}\n`)
  expect(kept).toHaveLength(3) // once each way
})

test('a long message that turns out not to be JSON becomes a raw line when the session ends', async () => {
  const bad = `{"text":"${'x'.repeat(100_000)}\t"}`
  const good = `{"jsonrpc":"2.0","method":"m","params":"${'y'.repeat(100_000)}"}`
  const run = record(fixtureServer('echo-bytes'))
  run.child.stdin.end(`${good}\n${bad}\n${good}\n`)
  await run.exited
  const frames = linesOf(run.tape).filter(({ dir, event }) => dir === 'c2s' && event === undefined)
  expect(frames.map((frame) => [Object.keys(frame).at(-1), frame['why'], frame['raw'] === bad])).toEqual([
    ['msg', undefined, false],
    ['why', 'not JSON', true],
    ['msg', undefined, false],
  ])
})

test('a line that is not a message is kept as a raw line that says why', async () => {
  const run = record(fixtureServer('echo-bytes'))
  run.child.stdin.end(
    Buffer.concat([Buffer.from('hello\n42\n\n  \n'), Buffer.from([0xff, 0x7b, 0x0a]), Buffer.from('{"a":')]),
  )
  await run.exited
  const raws = linesOf(run.tape).filter(({ dir, raw }) => dir === 's2c' && raw !== undefined)
  expect(raws.map(({ raw, why, base64 }) => ({ raw, why, base64 }))).toEqual([
    { raw: 'hello', why: 'not JSON' },
    { raw: '42', why: 'JSON, but no object or array' },
    { raw: '\ufffd{', why: 'not UTF-8', base64: '/3s=' },
    { raw: '{"a":', why: 'not JSON' },
  ])
})

test('a line that is too long is forwarded completely, and the tape has its length', async () => {
  const long = `{"jsonrpc":"2.0","method":"m","params":"${'x'.repeat(3 * 1024 * 1024)}"}\n`
  const run = record(fixtureServer('echo-bytes'), { options: ['--max-line', '1'] })
  run.child.stdin.end(long)
  await run.exited
  expect(run.stdout().toString()).toBe(long)
  const [c2s] = linesOf(run.tape).filter(({ raw }) => raw !== undefined)
  expect(c2s).toMatchObject({ why: `a line of ${long.length - 1} bytes; at most 1048576 are kept` })
  expect(String(c2s?.['raw']).length).toBe(4096)
})

test('a message of 20 MB is recorded completely', async () => {
  const long = `{"jsonrpc":"2.0","method":"m","params":"${'é'.repeat(10 * 1024 * 1024)}"}`
  const run = record(fixtureServer('echo-bytes'))
  run.child.stdin.end(`${long}\n`)
  await run.exited
  const reader = await openTape(run.tape)
  const texts: string[] = []
  for await (const frame of reader.frames()) if (frame.kind === 'message') texts.push(frame.text)
  expect(texts.map((text) => text === long)).toEqual([true, true])
})
