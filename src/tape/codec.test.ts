import fc from 'fast-check'
import { expect, test } from 'vitest'
import { classifyMessage } from '../protocol/message.ts'
import { decodeFrame, encodeFrame, encodeLinePrefix } from './codec.ts'
import type { Frame, MessageFrame } from './frame.ts'
import { cases } from '../../test/support/cases.ts'

const place = { n: 1, t: 0.412, server: 'github', conn: 1, dir: 'c2s' } as const

const message = (text: string, more: { x?: number } = {}): MessageFrame => ({
  kind: 'message',
  ...place,
  ...more,
  text,
  message: classifyMessage(JSON.parse(text)),
})

test('every kind of frame is encoded with its keys in a fixed order', () => {
  const frames: readonly Frame[] = [
    message('{"id":0,"jsonrpc":"2.0","method":"ping"}'),
    message('[]', { x: 7 }),
    { kind: 'raw', ...place, n: 2, t: 60.1, dir: 's2c', raw: 'oops "é"', why: 'not JSON' },
    { kind: 'raw', ...place, n: 2, t: 60.1, dir: 's2c', raw: '\uFFFD', why: 'not UTF-8', base64: '/w==' },
    { kind: 'stderr', ...place, n: 3, t: 61, dir: 's2c', stderr: 'listening\n' },
    { kind: 'event', n: 4, t: 900.3004, server: 'github', conn: 1, event: 'exit', details: { code: 0 } },
    { kind: 'event', n: 5, t: 900.4, event: 'end', details: { frames: 5 } },
    { ...message('{"id":1}', { x: 8 }), sse: { id: 'a', event: 'message', retry: 5000 } },
    { kind: 'raw', ...place, x: 8, sse: {}, raw: 'oops', why: 'not JSON' },
    { kind: 'http', ...place, x: 8, http: { method: 'POST', path: '/mcp', headers: [['Accept', '*/*']] } },
    { kind: 'http', ...place, x: 8, dir: 's2c', http: { status: 200, headers: [] } },
    { kind: 'event', n: 5, t: 1, server: 'github', conn: 1, x: 8, event: 'abort', details: { by: 'client' } },
    { kind: 'other', n: 6, t: 901, line: '{"t":901, "n":6, "later":{}}' },
  ]
  expect(frames.map((frame) => encodeFrame(frame)).join('\n')).toMatchInlineSnapshot(`
    "{"n":1,"t":0.412,"server":"github","conn":1,"dir":"c2s","msg":{"id":0,"jsonrpc":"2.0","method":"ping"}}
    {"n":1,"t":0.412,"server":"github","conn":1,"x":7,"dir":"c2s","msg":[]}
    {"n":2,"t":60.1,"server":"github","conn":1,"dir":"s2c","raw":"oops \\"é\\"","why":"not JSON"}
    {"n":2,"t":60.1,"server":"github","conn":1,"dir":"s2c","raw":"�","why":"not UTF-8","base64":"/w=="}
    {"n":3,"t":61,"server":"github","conn":1,"dir":"s2c","stderr":"listening\\n"}
    {"n":4,"t":900.3,"server":"github","conn":1,"event":"exit","code":0}
    {"n":5,"t":900.4,"event":"end","frames":5}
    {"n":1,"t":0.412,"server":"github","conn":1,"x":8,"dir":"c2s","sse":{"id":"a","event":"message","retry":5000},"msg":{"id":1}}
    {"n":1,"t":0.412,"server":"github","conn":1,"x":8,"dir":"c2s","sse":{},"raw":"oops","why":"not JSON"}
    {"n":1,"t":0.412,"server":"github","conn":1,"x":8,"dir":"c2s","http":{"method":"POST","path":"/mcp","headers":[["Accept","*/*"]]}}
    {"n":1,"t":0.412,"server":"github","conn":1,"x":8,"dir":"s2c","http":{"status":200,"headers":[]}}
    {"n":5,"t":1,"server":"github","conn":1,"x":8,"event":"abort","by":"client"}
    {"t":901, "n":6, "later":{}}"
  `)
})

test('the prefix of a line is everything before the payload, its time with at most three decimals', () => {
  expect(encodeLinePrefix(place)).toBe('{"n":1,"t":0.412,"server":"github","conn":1,"dir":"c2s"')
  expect(encodeLinePrefix({ ...place, t: 48.90049, server: 'a "b"', x: 7 })).toBe(
    '{"n":1,"t":48.9,"server":"a \\"b\\"","conn":1,"x":7,"dir":"c2s"',
  )
})

test('a message keeps its bytes: spacing, key order, number spelling, escapes', () => {
  const text =
    '{ "result":{"n":1.0e+5,"big":12345678901234567890,"s":"\\u00e9\\/"} ,"id":"1", "jsonrpc":"2.0"}'
  expect(decodeFrame(`${encodeLinePrefix(place)},"msg":${text}}`)).toEqual(message(text))
})

test('the order, spacing and repetition of keys make no difference', () => {
  const text = '{"jsonrpc":"2.0", "id":1,"method":"a"}'
  const lines = [
    `{ "msg" : ${text} , "dir":"c2s","conn":1.0,"server":"github","t":412e-3,"n":1 }`,
    `{"n":9,"n":1,"t":0.412,"server":"git\\u0068ub","conn":1,"dir":"c2s","msg":{},"msg":${text}}`,
    `{"n":1,"t":0.412,"server":"github","conn":1,"dir":"c2s","msg": ${text} }\t`,
    `{"n":1,"t":0.412,"server":"github","conn":1,"dir":"c2s","msg":${text},"note":"mine"}`,
  ]
  for (const line of lines) expect(decodeFrame(line)).toEqual(message(text))
})

test('a message with line breaks is encoded on one line', () => {
  const line = encodeFrame(message('{\n  "id": 1\r\n}'))
  expect(line).not.toContain('\n')
  expect(decodeFrame(line)).toEqual(message('{   "id": 1  }'))
})

test('a frame of an unknown kind is kept unchanged', () => {
  const line = '{"n":5,"t":61.0,"server":"github","conn":2,"x":7,"dir":"c2s","later":{"method":"POST"}}'
  expect(decodeFrame(line)).toEqual({ kind: 'other', n: 5, t: 61, line })
})

test('a line that is not a frame is reported with the reason', () => {
  const lines = [
    '',
    '{"n":1,"t":0.412,"server":"gith',
    '[]',
    '{"t":1,"event":"end"}',
    '{"n":0,"t":1,"event":"end"}',
    '{"n":1.5,"t":1,"event":"end"}',
    '{"n":"1","t":1,"event":"end"}',
    '{"n":1,"t":-1,"event":"end"}',
    '{"n":1,"t":1e999,"event":"end"}',
    '{"n":1,"t":1,"event":7}',
    '{"n":1,"t":1,"event":"exit","server":1}',
    '{"n":1,"t":1,"event":"exit","conn":"1"}',
    '{"n":1,"t":1,"conn":1,"dir":"c2s","msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":0,"dir":"c2s","msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":1,"x":-1,"dir":"c2s","msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"up","msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","stderr":1}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","raw":"x"}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","raw":null,"why":"x"}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","raw":"x","why":"y","base64":1}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","cut":7,"raw":"x","why":"y"}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","cut":{"bytes":-1},"raw":"x","why":"y"}',
    '{"n":1,"t":1,"server":"a","conn":1,"x":0,"event":"abort"}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","sse":[],"msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","sse":{"id":1},"msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","sse":{"event":1},"raw":"x","why":"y"}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","sse":{"retry":-1},"msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","http":7}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","http":{"status":200,"headers":[["a"]]}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","http":{"headers":[]}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"c2s","http":{"path":"/","headers":[]}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"c2s","http":{"method":"GET","headers":[]}}',
    '{"n":1,"t":01,"server":"a","conn":1,"dir":"s2c","msg":{}}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","msg":{}',
    '{"n":1,"t":1,"server":"a","conn":1,"dir":"s2c","msg":{}]',
  ]
  expect(lines.map((line) => whyBroken(line))).toMatchInlineSnapshot(`
    [
      "not JSON",
      "not JSON",
      "not a JSON object",
      ""n" is not a positive integer",
      ""n" is not a positive integer",
      ""n" is not a positive integer",
      ""n" is not a positive integer",
      ""t" is not a time in milliseconds",
      ""t" is not a time in milliseconds",
      ""event" is not a string",
      ""server" is not a string",
      ""conn" is not a positive integer",
      ""server" is not a string",
      ""conn" is not a positive integer",
      ""x" is not a positive integer",
      ""dir" is neither "c2s" nor "s2c"",
      ""stderr" is not a string",
      ""why" is not a string",
      ""raw" is not a string",
      ""base64" is not a string",
      ""cut" is not an object",
      ""cut.bytes" is not a length",
      ""x" is not a positive integer",
      ""sse" is not an object",
      ""sse.id" is not a string",
      ""sse.event" is not a string",
      ""sse.retry" is not a whole number",
      ""http" is not an object",
      ""http.headers" is not a list of names and values",
      ""http.status" is not a whole number",
      ""http.method" is not a string",
      ""http.path" is not a string",
      "not JSON",
      "not JSON",
      "not JSON",
    ]
  `)
})

test('a message nested deeper than the call stack is read', () => {
  const text = '['.repeat(200_000) + ']'.repeat(200_000)
  const frame = decodeFrame(`{"msg":${text},"n":1,"t":1,"server":"a","conn":1,"dir":"s2c"}`)
  expect(frame.kind === 'message' && frame.text === text).toBe(true)
})

test('an encoded frame decodes to the same frame', () => {
  fc.assert(
    fc.property(anyFrame(), (frame) => {
      expect(decodeFrame(encodeFrame(frame))).toEqual(frame)
      expect(decodeFrame(` ${encodeFrame(frame)}`)).toEqual(frame)
    }),
    cases(100),
  )
})

test('any text is decoded as a frame or reported as broken', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.string().map((end) => `${encodeLinePrefix(place)}${end}`),
      ),
      (line) => {
        expect(decodeFrame(line).kind).toMatch(/^(message|raw|stderr|http|event|other|broken)$/)
      },
    ),
  )
})

function whyBroken(line: string): string {
  const frame = decodeFrame(line)
  return frame.kind === 'broken' ? frame.why : `read as ${frame.kind}`
}

function anyFrame(): fc.Arbitrary<Frame> {
  const moment = { n: fc.integer({ min: 1, max: 1e9 }), t: fc.nat(1e9).map((t) => t / 1000) }
  const sent = {
    ...moment,
    server: fc.string({ unit: 'binary' }),
    conn: fc.integer({ min: 1, max: 1e6 }),
    dir: fc.constantFrom('c2s' as const, 's2c' as const),
  }
  const text = fc.string({ unit: 'binary' })
  const withX = fc.record(
    { ...sent, x: fc.integer({ min: 1 }) },
    { requiredKeys: ['n', 't', 'server', 'conn', 'dir'] },
  )
  const sse = fc.record({ id: text, event: text, retry: fc.nat() }, { requiredKeys: [] })
  const inEvent = fc.oneof(fc.constant({}), fc.record({ sse }))
  const cut = fc.record(
    { bytes: fc.nat(), id: fc.oneof(text, fc.integer()), method: text },
    { requiredKeys: ['bytes'] },
  )
  const headers = fc.array(fc.tuple(text, text))
  const head = fc.oneof(
    fc.record({ method: text, path: text, headers }).map((http) => ({ dir: 'c2s' as const, http })),
    fc.record({ status: fc.nat(), headers }).map((http) => ({ dir: 's2c' as const, http })),
  )
  const details = fc.dictionary(fc.string(), fc.jsonValue().map(withoutNegativeZero)).map(withoutEnvelope)
  return fc.oneof(
    fc
      .tuple(withX, inEvent, fc.jsonValue())
      .map(([where, within, value]): Frame => ({ ...message(JSON.stringify(value)), ...where, ...within })),
    fc
      .tuple(
        withX,
        inEvent,
        fc.record({ raw: text, why: text, base64: text, cut }, { requiredKeys: ['raw', 'why'] }),
      )
      .map(([where, within, payload]): Frame => ({ kind: 'raw', ...where, ...within, ...payload })),
    fc.tuple(withX, head).map(([where, payload]): Frame => ({ kind: 'http', ...where, ...payload })),
    fc.tuple(withX, text).map(([where, stderr]): Frame => ({ kind: 'stderr', ...where, stderr })),
    fc
      .tuple(fc.record(moment), text, details)
      .map(([when, event, own]): Frame => ({ kind: 'event', ...when, event, details: own })),
  )
}

function withoutNegativeZero(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function withoutEnvelope(details: Record<string, unknown>): Record<string, unknown> {
  const { n: _n, t: _t, server: _server, conn: _conn, x: _x, event: _event, ...own } = details
  return own
}

test('an invalid message that a killed recorder could not check is read as a raw frame', () => {
  const line = '{"n":2,"t":1.5,"server":"s","conn":1,"dir":"s2c","msg":{"text":"a\tb"}}'
  expect(decodeFrame(line)).toEqual({
    kind: 'raw',
    n: 2,
    t: 1.5,
    server: 's',
    conn: 1,
    dir: 's2c',
    raw: '{"text":"a\tb"}',
    why: 'not JSON',
  })
})

test('a message of a peer cannot pass for members of the frame', () => {
  const line =
    '{"n":2,"t":1.5,"server":"s","conn":1,"dir":"s2c","msg":{"a":1},"dir":"c2s","msg":{"jsonrpc":"2.0","id":7,"method":"evil"}}'
  expect(decodeFrame(line)).toMatchObject({ kind: 'raw', dir: 's2c' })
})
