import type { Readable, Writable } from 'node:stream'

interface PumpOptions {
  readonly from: Readable
  /** Asked once, when there is something to write. */
  readonly to: () => Writable
  /** Must call `handOn` once, in the same tick: the link never waits for whoever looks at it. */
  readonly onChunk: (chunk: Buffer, handOn: () => void) => void
  /** Called once, when no more will come. */
  readonly onEnd: () => void
}

export interface Pump {
  /** Whether something has been taken from one side that the other has not taken yet. */
  isWaiting(): boolean
  /** The writer is gone: its end can be seen only behind what it left in the pipe, even if nobody takes that. */
  readToTheEnd(): void
}

/** What may wait in memory for a slow reader before its writer is made to wait too: with less, many long messages at once are slower (docs/decisions/0039). */
const HIGH_WATER = 256 * 1024
/** More than a pipe holds: whoever reads this much further has come to the end of what a dead writer left. */
const LEFT_IN_A_PIPE = 1024 * 1024

/** Hands every chunk on as it came, in the tick in which it came. */
export function startPump({ from, to, onChunk, onEnd }: PumpOptions): Pump {
  let target: Writable | undefined
  let highWater = HIGH_WATER
  const handOn = (chunk: Buffer): void => {
    target ??= to()
    const isBelowItsMark = target.write(chunk)
    if (isBelowItsMark || target.writableLength <= highWater) return // no `drain` follows where its own mark was not reached
    from.pause()
    target.once('drain', () => from.resume())
  }
  from.on('data', (chunk: Buffer) => onChunk(chunk, () => handOn(chunk)))
  whenDone(from, onEnd)
  return {
    isWaiting: () => target !== undefined && target.writableLength > 0 && !target.destroyed,
    readToTheEnd() {
      highWater = HIGH_WATER + LEFT_IN_A_PIPE
      if (from.isPaused()) from.resume()
    },
  }
}

function whenDone(from: Readable, onEnd: () => void): void {
  let isDone = false
  const done = (): void => {
    if (!isDone) onEnd()
    isDone = true
  }
  from.once('end', done)
  from.once('close', done)
  from.on('error', done)
}
