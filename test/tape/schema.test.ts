import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { decodeFrame, encodeFrame } from '../../src/tape/codec.ts'
import type { Frame } from '../../src/tape/frame.ts'
import { encodeHeader } from '../../src/tape/header.ts'

const schema: unknown = JSON.parse(readFileSync('schema/tape-1.json', 'utf8'))
const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strict: true })
const validate = ajv.compile(Object(schema))

const place = { n: 1, t: 0.5, server: 'demo', conn: 1, dir: 's2c' } as const

test('every line of a recorded tape fits the published schema', () => {
  const lines = readFileSync('test/fixtures/tapes/v1-first.tape.jsonl', 'utf8').trimEnd().split('\n')
  expect(lines.filter((line) => !fits(line))).toEqual([])
})

test('everything that the codec writes fits the published schema', () => {
  const frames: readonly Frame[] = [
    { kind: 'message', ...place, x: 3, text: '[{"a":1}]', message: { kind: 'invalid', why: '' } },
    { kind: 'raw', ...place, raw: 'oops', why: 'not JSON' },
    { kind: 'raw', ...place, raw: '\uFFFD', why: 'not UTF-8', base64: '/w==' },
    { kind: 'raw', ...place, raw: '{"id"', why: 'cut', cut: { bytes: 9, id: 7 } },
    { kind: 'raw', ...place, raw: '{"id"', why: 'cut', cut: { bytes: 9, id: 'a', method: 'm' } },
    { kind: 'event', n: 1, t: 0, event: 'limit', details: { limit: 'idle' } },
    {
      kind: 'event',
      n: 1,
      t: 0,
      server: 'demo',
      conn: 1,
      event: 'pending',
      details: { dir: 'c2s', id: 1, method: 'm', ms: 1000 },
    },
    { kind: 'stderr', ...place, stderr: 'a\nb' },
    { kind: 'event', n: 1, t: 0, server: 'demo', conn: 1, event: 'exit', details: { signal: 'SIGTERM' } },
    { kind: 'event', n: 1, t: 0, event: 'end', details: { frames: 1, lost: 2 } },
    { kind: 'raw', ...place, x: 3, sse: { id: 'a', event: 'b', retry: 3 }, raw: 'oops', why: 'not JSON' },
    { kind: 'http', ...place, dir: 'c2s', x: 3, http: { method: 'GET', path: '/', headers: [['a', 'b']] } },
    { kind: 'http', ...place, x: 3, http: { status: 200, headers: [] } },
    { kind: 'event', n: 1, t: 0, server: 'demo', conn: 1, x: 3, event: 'abort', details: { by: 'client' } },
    {
      kind: 'event',
      n: 1,
      t: 0,
      server: 'demo',
      conn: 1,
      x: 3,
      event: 'sse',
      details: { sse: {}, data: '' },
    },
    { kind: 'event', n: 1, t: 0, server: 'demo', conn: 1, x: 3, event: 'unreachable', details: { why: '' } },
    { kind: 'event', n: 1, t: 0, server: 'late', event: 'server', details: { transport: 'in-process' } },
    { kind: 'event', n: 1, t: 0, server: 'demo', conn: 1, event: 'error', details: { message: 'no' } },
    { kind: 'event', n: 1, t: 0, server: 'demo', conn: 1, event: 'close', details: {} },
    { kind: 'event', n: 1, t: 0, event: 'end', details: { frames: 1, servers: ['late'] } },
    { kind: 'event', n: 1, t: 0, event: 'from the future', details: { anything: [] } },
    { kind: 'other', n: 5, t: 61, line: '{"n":5,"t":61,"server":"demo","conn":1,"dir":"c2s","later":{}}' },
  ]
  expect(frames.map((frame) => encodeFrame(frame)).filter((line) => !fits(line))).toEqual([])
  expect(
    fits(
      encodeHeader({ reelay: 1, id: 'a', started: '2026-11-15T07:20:59Z', by: 'b', servers: {}, tags: {} }),
    ),
  ).toBe(true)
})

test('a header with members from the future fits', () => {
  expect(
    fits(
      '{"reelay":1,"id":"a","started":"2026-11-15T07:20:59Z","by":"b","servers":{"s":{"transport":"http","url":"u"}},"new":1}',
    ),
  ).toBe(true)
})

test('a line that the reader calls broken does not fit, and vice versa', () => {
  const lines = [
    '[]',
    '{"n":0,"t":1,"event":"end","frames":1}',
    '{"n":1,"t":-1,"event":"note"}',
    '{"n":1,"event":"note"}',
    '{"n":1,"t":1,"event":7}',
    '{"n":1,"t":1,"server":7,"event":"note"}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"up","msg":{}}',
    '{"n":1,"t":1,"conn":1,"dir":"c2s","msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":1,"x":0,"dir":"c2s","msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","raw":"x"}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","stderr":1}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","sse":{"id":1},"msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","http":{"status":200}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","http":{"method":"GET","path":"/","headers":[]}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"c2s","http":{"status":200,"headers":[]}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","msg":null}',
    '{"n":1,"t":1,"later":true}',
  ]
  expect(lines.map((line) => fits(line))).toEqual(lines.map((line) => decodeFrame(line).kind !== 'broken'))
  expect(lines.filter((line) => fits(line))).toEqual(lines.slice(-2))
})

test('a header that contradicts the format does not fit', () => {
  expect(fits('{"reelay":1}')).toBe(false)
  expect(fits('{"reelay":2,"id":"a","started":"2026-11-15T07:20:59Z","by":"b","servers":{}}')).toBe(false)
  expect(
    fits('{"reelay":1,"id":"a","started":"2026-11-15T07:20:59Z","by":"b","servers":{},"tags":{"a":1}}'),
  ).toBe(false)
})

function fits(line: string): boolean {
  return validate(JSON.parse(line))
}
