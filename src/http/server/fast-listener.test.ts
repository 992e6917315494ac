import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FastHeadCache, parseFastHead } from './fast-listener.ts'
import { cases } from '../../../test/support/cases.ts'

const HOST = 'Host: 127.0.0.1:4000'
const LENGTH = 'Content-Length: 12'

test('a simple head is parsed: names in lower case, values without surrounding spaces', () => {
  const text = head(
    'POST /mcp?client=a HTTP/1.1',
    HOST,
    'Accept:application/json, text/event-stream \t',
    LENGTH,
  )
  expect(parseFastHead(text)).toEqual({
    url: '/mcp?client=a',
    headers: {
      host: '127.0.0.1:4000',
      accept: 'application/json, text/event-stream',
      'content-length': '12',
    },
    rawHeaders: [
      'Host',
      '127.0.0.1:4000',
      'Accept',
      'application/json, text/event-stream',
      'Content-Length',
      '12',
    ],
    length: 12,
    isLast: false,
  })
})

test('a client can ask for the connection to be closed', () => {
  const asked = ['close', 'Close', 'keep-alive', 'Keep-Alive'].map(
    (said) => parseFastHead(head('POST / HTTP/1.1', HOST, LENGTH, `Connection: ${said}`))?.isLast,
  )
  expect(asked).toEqual([true, true, false, false])
})

test.each([
  ['another method', head('GET / HTTP/1.1', HOST, LENGTH)],
  ['a method in small letters', head('post / HTTP/1.1', HOST, LENGTH)],
  ['another version', head('POST / HTTP/1.0', HOST, LENGTH)],
  ['two spaces', head('POST  / HTTP/1.1', HOST, LENGTH)],
  ['a whole URL', head('POST http://127.0.0.1/ HTTP/1.1', HOST, LENGTH)],
  ['a URL with what belongs into none', head('POST /<> HTTP/1.1', HOST, LENGTH)],
  ['an empty line before it', head('', 'POST / HTTP/1.1', HOST, LENGTH)],
  ['no host', head('POST / HTTP/1.1', LENGTH)],
  ['no length', head('POST / HTTP/1.1', HOST)],
  ['two lengths', head('POST / HTTP/1.1', HOST, LENGTH, LENGTH)],
  ['two hosts', head('POST / HTTP/1.1', HOST, 'host: other', LENGTH)],
  ['a length with a sign', head('POST / HTTP/1.1', HOST, 'Content-Length: +12')],
  ['a length with a zero before it', head('POST / HTTP/1.1', HOST, 'Content-Length: 012')],
  ['a length in other digits', head('POST / HTTP/1.1', HOST, 'Content-Length: 0xc')],
  ['a list of lengths', head('POST / HTTP/1.1', HOST, 'Content-Length: 12, 12')],
  ['a length that is better not held in memory', head('POST / HTTP/1.1', HOST, 'Content-Length: 10000000')],
  ['chunks', head('POST / HTTP/1.1', HOST, LENGTH, 'Transfer-Encoding: chunked')],
  ['a question before the body', head('POST / HTTP/1.1', HOST, LENGTH, 'Expect: 100-continue')],
  ['another protocol', head('POST / HTTP/1.1', HOST, LENGTH, 'Upgrade: h2c')],
  ['something else for the hop', head('POST / HTTP/1.1', HOST, LENGTH, 'Connection: keep-alive, x')],
  ['a line that goes on', head('POST / HTTP/1.1', HOST, 'A: b', ' c', LENGTH)],
  ['a space before the colon', head('POST / HTTP/1.1', HOST, 'A : b', LENGTH)],
  ['no name', head('POST / HTTP/1.1', HOST, ': b', LENGTH)],
  ['no colon', head('POST / HTTP/1.1', HOST, 'A', LENGTH)],
  ['a line feed alone', head('POST / HTTP/1.1', HOST, 'A: b\nB: c', LENGTH)],
  ['a carriage return alone', head('POST / HTTP/1.1', HOST, 'A: b\rB: c', LENGTH)],
  ['a zero', head('POST / HTTP/1.1', HOST, 'A: b\0', LENGTH)],
  ['what is not ASCII', head('POST / HTTP/1.1', HOST, 'A: \u00e9', LENGTH)],
  ['more lines than clients write', head('POST / HTTP/1.1', HOST, LENGTH, ...many('A', 64))],
])('a head is left to Node when it has %s', (_, text) => {
  expect(parseFastHead(text)).toBeUndefined()
})

test('a head that is too long is left to Node', () => {
  const text = head('POST / HTTP/1.1', HOST, LENGTH, `A: ${'b'.repeat(8 * 1024)}`)
  expect(new FastHeadCache().read(text)).toBeUndefined()
})

test('a cached head stays the same, however many others follow', () => {
  const line = fc.constantFrom('A: b', 'a: B', 'C: d', 'A : b', 'Connection: close')
  const heads = new FastHeadCache()
  fc.assert(
    fc.property(fc.array(line, { maxLength: 3 }), fc.nat(2000), (lines, length) => {
      const text = head('POST /mcp HTTP/1.1', HOST, ...lines, `Content-Length: ${length}`)
      expect(heads.read(text)).toEqual(parseFastHead(text))
    }),
    cases(2000),
  )
})

function head(...lines: readonly string[]): string {
  return lines.join('\r\n')
}

function many(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${name}${at}: b`)
}
