import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/support/recorder.ts'
import { TapeWriter } from './append.ts'
import { SlowLane, type Batch } from './slow-lane.ts'

const PLACE = Buffer.from(',"msg":')
const long = (letter: string, size: number): Buffer => Buffer.from(JSON.stringify(letter.repeat(size)))

function put(writer: TapeWriter, message: Buffer): void {
  writer.frame(1, PLACE, [], message, 0, message.length)
  writer.flush()
}

function newWriter(): TapeWriter {
  const path = join(temporaryFolder(), 'x.tape.jsonl')
  return new TapeWriter(path, openSync(path, 'a'))
}

const messagesOn = ({ path }: TapeWriter): unknown[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: unknown }).msg)

test('a long message holds nothing up: it is written bit by bit, and short ones behind it stay behind it', async () => {
  const writer = newWriter()
  put(writer, long('a', 2_000_000))
  expect(readFileSync(writer.path).length).toBeLessThan(1_000_000)
  put(writer, Buffer.from('"b"'))
  put(writer, long('c', 1_000_000))
  const end = writer.position
  while (writer.length < end) await nextRound()
  expect(messagesOn(writer)).toEqual(['a'.repeat(2_000_000), 'b', 'c'.repeat(1_000_000)])
  put(writer, Buffer.from('"d"'))
  expect(writer.length).toBeGreaterThan(end)
})

test('closing a tape writes what is left of a long message', () => {
  const writer = newWriter()
  put(writer, long('a', 3_000_000))
  put(writer, Buffer.from('"b"'))
  writer.close()
  expect(messagesOn(writer)).toEqual(['a'.repeat(3_000_000), 'b'])
})

test('what waits for a disk is bounded', () => {
  const writer = newWriter()
  for (let count = 0; count < 20; count++) put(writer, long('a', 1_000_000))
  expect(readFileSync(writer.path).length).toBeGreaterThan(10_000_000)
})

test('when the kernel takes no more, every frame that waited is counted as lost, and none before', async () => {
  const written: Batch[] = []
  const failed: Batch[] = []
  let room = 150_000
  const lane = new SlowLane({
    write(pieces) {
      room -= pieces.reduce((sum, { length }) => sum + length, 0)
      if (room < 0) throw new Error('the disk is full')
    },
    onWritten: (batch) => void written.push(batch),
    onFailed: (batches) => void failed.push(...batches),
  })
  const [one, two, three] = [100_000, 100_000, 10].map((bytes, frames) => ({
    pieces: [new Uint8Array(bytes)],
    bytes,
    frames,
  }))
  for (const batch of [one!, two!, three!]) lane.add(batch)
  while (lane.bytes > 0) await nextRound()
  expect(written).toEqual([one])
  expect(failed).toEqual([two, three])
})
