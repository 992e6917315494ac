import { PassThrough, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { startPump } from './pump.ts'

const CHUNK = Buffer.alloc(32 * 1024, 'x')
const CHUNKS = 32

test('a slow reader with a large buffer gets everything', async () => {
  const reader = slowReader(CHUNK.length * CHUNKS)
  const { isDone } = pumpInto(reader.stream)
  await isDone
  expect(reader.stream.writableLength).toBeGreaterThan(0)
  await reader.takeAll(CHUNKS)
})

test('the bytes that wait for a slow reader are bounded, and none is lost', async () => {
  const reader = slowReader(1024)
  const { isDone } = pumpInto(reader.stream)
  await reader.takeAll(CHUNKS)
  await isDone
  expect(reader.most()).toBeLessThanOrEqual(256 * 1024 + CHUNK.length)
})

test('many chunks that are handed on at once wait for a slow reader with one listener', async () => {
  const reader = slowReader(1024)
  const from = new PassThrough()
  startPump({
    from,
    to: () => reader.stream,
    onChunk: (_, handOn) => {
      for (let chunk = 0; chunk < CHUNKS; chunk++) handOn(CHUNK)
    },
    onEnd: () => {},
  })
  from.write('x')
  await reader.takeAll(1)
  expect(reader.stream.listenerCount('drain')).toBe(1)
  await reader.takeAll(CHUNKS - 1)
  expect(from.isPaused()).toBe(false)
})

function pumpInto(to: Writable): { readonly isDone: Promise<void> } {
  const from = new PassThrough({ highWaterMark: CHUNK.length })
  const isDone = new Promise<void>((resolve) => {
    startPump({ from, to: () => to, onChunk: (_, handOn) => handOn(), onEnd: resolve })
  })
  for (let chunk = 0; chunk < CHUNKS; chunk++) from.write(CHUNK)
  from.end()
  return { isDone }
}

/** Takes a chunk only when it is told to. */
function slowReader(highWaterMark: number): {
  readonly stream: Writable
  readonly most: () => number
  readonly takeAll: (chunks: number) => Promise<void>
} {
  const waiting: (() => void)[] = []
  let most = 0
  const stream = new Writable({
    highWaterMark,
    write(_chunk, _encoding, taken) {
      most = Math.max(most, stream.writableLength)
      waiting.push(taken)
      stream.emit('asked')
    },
  })
  const takeOne = async (): Promise<void> => {
    if (waiting.length === 0) await new Promise((resolve) => stream.once('asked', resolve))
    most = Math.max(most, stream.writableLength)
    waiting.shift()?.()
  }
  const takeAll = async (chunks: number): Promise<void> => {
    for (let taken = 0; taken < chunks; taken++) await takeOne()
  }
  return { stream, most: () => most, takeAll }
}
