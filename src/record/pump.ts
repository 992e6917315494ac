import type { Readable, Writable } from 'node:stream'

export interface Pump {
  readonly from: Readable
  /** Asked once, when there is something to write. */
  readonly to: () => Writable
  /** Must call `handOn` once, in the same tick: the link never waits for whoever looks at it. */
  readonly onChunk: (chunk: Buffer, handOn: () => void) => void
  /** Called once, when no more will come. */
  readonly onEnd: () => void
}

/** What may wait in memory for a slow reader before its writer is made to wait too. Above every stream's own mark, so that `drain` follows. */
const HIGH_WATER = 256 * 1024

/** Hands every chunk on as it came, in the tick in which it came. */
export function startPump({ from, to, onChunk, onEnd }: Pump): void {
  let target: Writable | undefined
  from.on('data', (chunk: Buffer) => {
    onChunk(chunk, () => {
      target ??= to()
      target.write(chunk)
      if (target.writableLength <= HIGH_WATER) return
      from.pause()
      target.once('drain', () => from.resume())
    })
  })
  let ended = false
  const end = (): void => {
    if (ended) return
    ended = true
    onEnd()
  }
  from.once('end', end)
  from.once('close', end)
  from.on('error', end)
}
