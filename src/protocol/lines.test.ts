import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeUtf8, type Line, lineBytes, LineSplitter } from './lines.ts'
import { cases } from '../../test/support/cases.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test('lines come without their ends, empty ones are skipped, the last needs no line feed', () => {
  expect(split([bytesOf('one\r\n\n\r\ntwo\r\r\nthree')])).toEqual(['1 one', '4 two\r', '5 three'])
})

test('a character that is split over two chunks is kept', () => {
  const bytes = bytesOf('naïve 日本 😀\n')
  expect(split([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(['1 naïve 日本 😀'])
})

test('a line beyond the bound is reported once, with its length, and the next line is read', () => {
  expect(split([bytesOf('12345\n123456\n1234'), bytesOf('5678'), bytesOf('9\r\n12345\r\nok')], 5)).toEqual([
    '1 12345',
    '2 overlong 6: 123456',
    '3 overlong 9: 123456789',
    '4 12345',
    '5 ok',
  ])
})

test('only the first 64 KiB of a line beyond the bound are kept', () => {
  const splitter = new LineSplitter({ maxBytes: 100_000 })
  for (let i = 0; i < 64; i++) expect(splitter.split(new Uint8Array(1_000_000).fill(65 + i))).toEqual([])
  const overlong = splitter.end().map((line) => {
    const head = lineBytes(line)
    return [line.isOverlong, head[0], head.buffer.byteLength, line.length]
  })
  expect(overlong).toEqual([[true, 65, 65_536, 64_000_000]])
})

test('a line just within the bound may end in CRLF', () => {
  const line = 'x'.repeat(100_000)
  expect(split([bytesOf(`${line}\r`), bytesOf('\n')], 100_000)).toEqual([`1 ${line}`])
})

test('a long line that arrives in many small chunks is joined once', () => {
  const splitter = new LineSplitter()
  const chunk = new Uint8Array(100).fill(65)
  for (let i = 0; i < 200_000; i++) splitter.split(chunk)
  expect(splitter.pendingBytes).toBe(20_000_000)
  const lines = splitter.split(Uint8Array.of(10))
  expect(lines.map((line) => lineBytes(line).length)).toEqual([20_000_000])
})

test('the way the chunks are cut makes no difference', () => {
  const letters = fc.constantFrom('a', 'é', '😀', '\r', '\n', '\r\n', '{"b":1}')
  const text = fc.array(letters, { maxLength: 60 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat(80)), fc.integer({ min: 1, max: 12 }), (whole, cuts, maxBytes) => {
      expect(split(chunksOf(bytesOf(whole), cuts), maxBytes)).toEqual(expected(whole, maxBytes))
    }),
    cases(500),
  )
})

test('bytes that are not UTF-8 are rejected, and a byte order mark is kept', () => {
  expect(decodeUtf8(Uint8Array.of(0x61, 0xff))).toBeUndefined()
  expect(decodeUtf8(Uint8Array.of(0xe6, 0x97))).toBeUndefined()
  expect(decodeUtf8(bytesOf('\uFEFFé'))).toBe('\uFEFFé')
})

function split(chunks: readonly Uint8Array[], maxBytes?: number): readonly string[] {
  const splitter = new LineSplitter(maxBytes === undefined ? {} : { maxBytes })
  return [...chunks.flatMap((chunk) => splitter.split(chunk)), ...splitter.end()].map(described)
}

function described(line: Line): string {
  const text = new TextDecoder().decode(lineBytes(line))
  return line.isOverlong ? `${line.number} overlong ${line.length}: ${text}` : `${line.number} ${text}`
}

function chunksOf(bytes: Uint8Array, cuts: readonly number[]): readonly Uint8Array[] {
  const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end))
}

function expected(text: string, maxBytes: number): readonly string[] {
  return text.split('\n').flatMap((raw, index) => {
    const line = raw.replace(/\r$/, '')
    const { length } = bytesOf(line)
    if (length === 0) return []
    return length > maxBytes ? `${index + 1} overlong ${length}: ${line}` : `${index + 1} ${line}`
  })
}
