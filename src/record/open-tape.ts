import type { Loss, TapeWriter } from '../store/append.ts'
import type { PayloadRange } from '../store/recheck.ts'
import { milliseconds } from '../tape/time.ts'

/** A tape that is being written. */
export interface OpenTape {
  readonly writer: TapeWriter
  readonly began: number
  readonly unchecked: PayloadRange[]
}

/** What became of it. */
export interface ClosedTape {
  readonly path: string
  readonly frames: number
  /** Why it is not whole, and how many frames it missed. */
  readonly loss: Loss | undefined
}

/** Writes its last line, and closes it; what was only glanced at while the link was busy is checked now. */
export async function closeTape(
  { writer, unchecked }: OpenTape,
  time: number,
  crash: string | undefined,
  members: string,
): Promise<ClosedTape> {
  const loss = writer.loss ?? (crash === undefined ? undefined : { why: crash, frames: 0 })
  const lost = loss === undefined ? '' : `,"lost":${loss.frames}`
  writer.tryAgain() // a disk that was full may have room for this one line, which then says what is missing
  writer.rareFrame(`,"t":${milliseconds(time)},"event":"end","frames":${writer.frames + 1}${lost}${members}`)
  writer.close()
  if (unchecked.length > 0) await recheckWritten(writer, unchecked)
  return { path: writer.path, frames: writer.frames - (loss?.frames ?? 0), loss }
}

async function recheckWritten(
  { path, length }: TapeWriter,
  unchecked: readonly PayloadRange[],
): Promise<void> {
  try {
    const { recheck } = await import('../store/recheck.ts')
    recheck(
      path,
      unchecked.filter(({ end }) => end < length),
    )
  } catch {
    // The tape stays as it is: readers take a message that is not JSON for a raw line.
  }
}
