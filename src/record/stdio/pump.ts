import type { Readable, Writable } from 'node:stream'

interface PumpOptions {
  readonly from: Readable
  /** Called once, when there is something to write. */
  readonly to: () => Writable
  /** Must call `handOn` in the same tick, because the link never waits for the recorder. It may hand on other bytes, or wait for more. */
  readonly onChunk: (chunk: Buffer, handOn: (bytes?: Uint8Array) => void) => void
  /** Called once, when the source has ended. */
  readonly onEnd: () => void
}

export interface Pump {
  /** Whether bytes were read from one side that the other has not received yet. */
  isWaiting(): boolean
  /** Writes bytes that did not come from the source. */
  send(bytes: Uint8Array): void
  /** Keeps everything else waiting until `release` is called. Meanwhile only `write` writes. */
  hold(): { readonly write: (bytes: Uint8Array) => void; readonly release: () => void }
  /** Reads everything that a writer left in the pipe when it ended, even if the other side does not read. Only then the end is noticed. */
  readToTheEnd(): void
}

/** How much may wait in memory for a slow reader before its writer has to wait too. A lower value slows down many long messages at once (docs/decisions/0039). */
const HIGH_WATER = 256 * 1024
/** More than a pipe holds, so reading this much reaches the end of what a dead writer left. */
const LEFT_IN_A_PIPE = 1024 * 1024

/** Hands every chunk on unchanged, in the tick in which it arrives. */
export function startPump({ from, to, onChunk, onEnd }: PumpOptions): Pump {
  let target: Writable | undefined
  let highWater = HIGH_WATER
  let isFull = false
  let waiting: Uint8Array[] | undefined
  const handOn = (chunk: Uint8Array): void => {
    if (waiting === undefined) write(chunk)
    else waiting.push(chunk)
  }
  const write = (chunk: Uint8Array): void => {
    target ??= to()
    if (target.writableEnded) return // a fault has ended it
    const acceptsMore = target.write(chunk) // only if it does not, `drain` will be emitted
    if (acceptsMore || target.writableLength <= highWater) return
    from.pause()
    if (isFull) return // many chunks may be handed on at once
    isFull = true
    target.once('drain', () => {
      isFull = false
      from.resume()
    })
  }
  from.on('data', (chunk: Buffer) => onChunk(chunk, (bytes = chunk) => handOn(bytes)))
  whenDone(from, onEnd)
  return {
    isWaiting: () =>
      waiting !== undefined || (target !== undefined && target.writableLength > 0 && !target.destroyed),
    send: handOn,
    hold() {
      waiting ??= []
      return {
        write,
        release: () => {
          const chunks = waiting ?? []
          waiting = undefined
          for (const chunk of chunks) write(chunk)
        },
      }
    },
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
