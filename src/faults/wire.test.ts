import { expect, test } from 'vitest'
import { seededRandom } from '../seeded-random.ts'
import { sendOnWire, type WirePlan } from './wire.ts'

/** What a plan writes, piece by piece, and how it ends. Pauses pass at once. */
function written(text: string, plan: WirePlan): { pieces: readonly Buffer[]; pauses: number[]; end: string } {
  const pieces: Buffer[] = []
  const pauses: number[] = []
  let end = 'open'
  const port = {
    write: (bytes: Uint8Array) => void pieces.push(Buffer.from(bytes)),
    finish: () => void (end = 'finished'),
    halfClose: () => void (end = 'half-closed'),
    reset: () => void (end = 'reset'),
  }
  const clock = {
    after: (ms: number, action: () => void) => {
      pauses.push(ms)
      action()
    },
  }
  sendOnWire(Buffer.from(text), plan, port, { clock, random: seededRandom(1) })
  return { pieces, pauses, end }
}

const TEXT = '{"jsonrpc":"2.0","id":1,"result":{"text":"naïve 日本"}}'

test.each<[string, WirePlan]>([
  ['pieces', { pieceBytes: 7, pauseMs: 5, jitterMs: 5 }],
  ['a cut inside a character', { cutInside: 'character', pauseMs: 5 }],
  ['a cut inside a token', { cutInside: 'token', pauseMs: 5 }],
  ['a cut inside an event', { cutInside: 'event', pauseMs: 5 }],
  ['a late end', { closeAfterMs: 100 }],
])('%s keep all bytes in order', (_, plan) => {
  const { pieces, end } = written(TEXT, plan)
  expect({ text: Buffer.concat(pieces).toString(), end }).toEqual({ text: TEXT, end: 'finished' })
})

test('a cut inside a character leaves a piece that is not UTF-8', () => {
  const { pieces } = written(TEXT, { cutInside: 'character' })
  expect(pieces.map((piece) => piece.toString('utf8').includes('\uFFFD'))).toEqual([true, true])
})

test('a reset and a half close come after half of the bytes', () => {
  const half = TEXT.slice(0, Buffer.byteLength(TEXT) >> 1)
  for (const [stop, end] of [
    ['reset', 'reset'],
    ['half-close', 'half-closed'],
  ] as const) {
    const done = written(TEXT, { stop })
    expect({ text: Buffer.concat(done.pieces).toString(), end: done.end }).toEqual({ text: half, end })
  }
})

test('the same seed gives the same pauses', () => {
  const plan = { pieceBytes: 4, pauseMs: 1, jitterMs: 10 }
  expect(written(TEXT, plan).pauses).toEqual(written(TEXT, plan).pauses)
})
