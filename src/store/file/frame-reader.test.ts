import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameReader, type TapeReadState, MessageFrameScanner } from './frame-reader.ts'
import { decodeFrame, encodeFrame } from '../../tape/codec.ts'

const END = new TextEncoder().encode('{"n":2,"t":1,"event":"end","frames":2}')

test('a line that is too long to be read is reported and counted', () => {
  const state: TapeReadState = { ended: false, problems: [] }
  const lines = new FrameReader({ version: 1, state })
  lines.addOverlong(300_000_000, 2)
  lines.add(END, 3)
  expect(lines.takeFrames().map(({ n }) => n)).toEqual([2])
  expect(state).toEqual({ ended: true, problems: [{ line: 2, why: 'too long to be read: 300000000 bytes' }] })
})

const MESSAGE = '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"é 日本"}]}}'
const PLACE = '{"n":3,"t":12.345,"server":"s","conn":1'

test.each([
  ['a plain message', `${PLACE},"dir":"s2c","msg":${MESSAGE}}`],
  ['one of an HTTP exchange', `${PLACE},"x":7,"dir":"c2s","msg":${MESSAGE}}`],
  [
    'one in a server-sent event',
    `${PLACE},"x":7,"dir":"s2c","sse":{"id":"a\\"b","event":"message","retry":5},"msg":${MESSAGE}}`,
  ],
  ['a batch', `${PLACE},"dir":"c2s","msg":[${MESSAGE},1]}`],
  ['what is no JSON-RPC', `${PLACE},"dir":"c2s","msg":{"id":1}}`],
  ['spaces around the message', `${PLACE},"dir":"c2s","msg": ${MESSAGE} }`],
  ['a time without decimals', `{"n":3,"t":12,"server":"s","conn":1,"dir":"s2c","msg":${MESSAGE}}`],
])('%s is read from bytes with the same result as from text', (_what, line) => {
  const read = new MessageFrameScanner().read(Buffer.from(line))
  expect(read).toBeDefined()
  expect(read).toEqual(decodeFrame(line))
})

test.each([
  ['no JSON', `${PLACE},"dir":"s2c","msg":{"jsonrpc":}}`],
  ['members behind the message', `${PLACE},"dir":"s2c","msg":${MESSAGE},"x":7}`],
  ['a line that is cut', `${PLACE},"dir":"s2c","msg":${MESSAGE}`],
  ['another order', `{"t":1,"n":3,"server":"s","conn":1,"dir":"s2c","msg":${MESSAGE}}`],
  ['a name that is not plain', `{"n":3,"t":1,"server":"é","conn":1,"dir":"s2c","msg":${MESSAGE}}`],
  ['stderr', `${PLACE},"dir":"s2c","stderr":"words"}`],
  ['a replacement character', `${PLACE},"dir":"s2c","msg":{"jsonrpc":"2.0","method":"\uFFFD"}}`],
  [
    'a time of many digits',
    `{"n":3,"t":1.2345678901234567,"server":"s","conn":1,"dir":"s2c","msg":${MESSAGE}}`,
  ],
  ['nothing', ''],
])('%s is left to the full decoder', (_what, line) => {
  expect(new MessageFrameScanner().read(Buffer.from(line))).toBeUndefined()
})

test('bytes that are not UTF-8 are left to the full decoder', () => {
  const line = Buffer.from(`${PLACE},"dir":"s2c","msg":${MESSAGE}}`)
  line[line.length - 8] = 0xff
  expect(new MessageFrameScanner().read(line)).toBeUndefined()
})

test('any time that a recorder writes is read as exactly the same number', () => {
  const scan = new MessageFrameScanner()
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e12 }), fc.integer({ min: 1, max: 1e9 }), (thousandths, n) => {
      const frame = decodeFrame(
        `{"n":${n},"t":${thousandths / 1000},"server":"s","conn":1,"dir":"c2s","msg":{}}`,
      )
      if (frame.kind !== 'message') throw new Error(frame.kind)
      expect(scan.read(Buffer.from(encodeFrame(frame)))).toEqual(frame)
    }),
  )
})
