import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SseReader, type SseEvent } from './sse.ts'

test('an event keeps its id, type, retry and data', () => {
  expect(read(['id: a::1\nevent: message\nretry: 5000\ndata: {"a":1}\n\n'])).toEqual([
    { id: 'a::1', event: 'message', retry: 5000, data: '{"a":1}' },
  ])
})

test('a priming event, a lone id, a lone retry and comments are not lost', () => {
  expect(read(['id: 1\nretry: 5000\ndata: \n\n: ping\n\nid: 2\n\nretry: 10\n\n'])).toEqual([
    { id: '1', retry: 5000, data: '' },
    'comment ping',
    { id: '2' },
    { retry: 10 },
  ])
})

test('data over several lines is joined by line feeds', () => {
  expect(read(['data: {\ndata\ndata:  "a":1}\n\n'])).toEqual([{ data: '{\n\n "a":1}' }])
})

test('lines end with LF, CRLF or CR, and a byte order mark is skipped', () => {
  expect(read(['\uFEFFdata: 1\r\n\r\n', 'data: 2\r\r', '\ndata: 3\n\n'])).toEqual([
    { data: '1' },
    { data: '2' },
    { data: '3' },
  ])
})

test('the bytes of an incomplete event are returned at the end of the stream', () => {
  const reader = new SseReader({ maxBytes: 100, onEvent() {}, onComment() {} })
  reader.push(Buffer.from('data: {"a":\ndata: 1'))
  expect(Buffer.concat(reader.end().parts).toString()).toBe('{"a":\ndata: 1')
})

test('the beginning and the length of overlong data are kept', () => {
  const seen: SseEvent[] = []
  const reader = new SseReader({ maxBytes: 10, onEvent: (event) => seen.push(event), onComment() {} })
  for (const chunk of ['data: 0123456789abc', 'def'.repeat(10), '\n\ndata: next\n\n'])
    reader.push(Buffer.from(chunk))
  const [long, next] = seen
  expect([long?.data?.isComplete, long?.data?.parts.length]).toEqual([false, 1])
  expect([next?.data?.isComplete, textOf(next?.data)]).toEqual([true, 'next'])
})

test('the events are the same as those of another parser, independent of how the chunks are cut', () => {
  const line = fc.oneof(
    fc.constantFrom('', '', 'data', 'data:', 'id: 7', 'retry: 30', 'event: message', ': note', 'x: y'),
    fc.string().map((text) => `data: ${text.replaceAll(/[\r\n]/g, '')}`),
    fc.string({ unit: 'binary' }).map((text) => `data:${text.replaceAll(/[\r\n]/g, '')}`),
  )
  const stream = fc.array(line, { maxLength: 20 }).map((lines) => Buffer.from(`${lines.join('\n')}\n\n`))
  fc.assert(
    fc.property(stream, fc.array(fc.nat(40), { minLength: 1 }), (bytes, sizes) => {
      const ours = read(cut(bytes, sizes)).filter((each) => Object.hasOwn(Object(each), 'data'))
      expect(ours.map((each) => withoutRetry(each))).toEqual(theirs(bytes.toString()))
    }),
  )
})

function read(chunks: readonly (string | Uint8Array)[]): unknown[] {
  const seen: unknown[] = []
  const reader = new SseReader({
    maxBytes: 1000,
    onEvent: (event) => seen.push('data' in event ? { ...event, data: textOf(event.data) } : event),
    onComment: (text) => seen.push(`comment ${text}`),
  })
  for (const chunk of chunks) reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
  return seen
}

function textOf(data: SseEvent['data']): string {
  return Buffer.concat(data?.parts ?? []).toString()
}

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1)
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

function withoutRetry(event: unknown): unknown {
  const { retry: _, ...rest } = Object(event) as SseEvent
  return rest
}

function theirs(text: string): unknown[] {
  const seen: unknown[] = []
  const parser = createParser({
    onEvent: ({ id, event, data }) =>
      seen.push({ ...(id !== undefined && { id }), ...(event !== undefined && { event }), data }),
  })
  parser.feed(text)
  return seen
}
