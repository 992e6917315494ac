import { redactTapeHeader } from '../redact/redact-tape.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { TapeLoss, TapeWriter } from '../store/file/write.ts'
import { createTape } from '../store/file/create.ts'
import type { PayloadRange } from '../store/file/validate-long-messages.ts'
import type { TapeHeader } from '../tape/header.ts'
import { encodeHeader } from '../tape/header-codec.ts'
import { roundTime } from '../tape/time.ts'
import { monotonicNow } from '../link/process/monotonic-clock.ts'

/** A tape that is being written. */
export interface StartedTape {
  readonly writer: TapeWriter
  readonly began: number
  readonly unchecked: PayloadRange[]
}

export interface StartTapeOptions {
  readonly path: string
  readonly header: (started: Date) => TapeHeader
  /** What replaces secrets; without it everything is taped as it is. */
  readonly redactor?: Redactor | undefined
}

/** Makes the file, and writes its first line. */
export function startTape({ path, header, redactor }: StartTapeOptions): StartedTape {
  const started = new Date()
  const began = monotonicNow()
  const line = encodeHeader(redactTapeHeader(header(started), redactor))
  const writer = createTape(path)
  writer.line(line)
  writer.flush()
  return { writer, began, unchecked: [] }
}

/** What became of it. */
export interface FinishedTape {
  readonly path: string
  readonly frames: number
  /** Why it is not whole, and how many frames it missed. */
  readonly loss: TapeLoss | undefined
}

/** Writes its last line, and closes it; what was only glanced at while the link was busy is checked now. */
export async function finishTape(
  { writer, unchecked }: StartedTape,
  time: number,
  crash: string | undefined,
  members: string,
): Promise<FinishedTape> {
  const loss = writer.loss ?? (crash === undefined ? undefined : { why: crash, frames: 0 })
  const lost = loss === undefined ? '' : `,"lost":${loss.frames}`
  writer.retryAfterFailure() // a disk that was full may have room for this one line, which then says what is missing
  writer.rareFrame(`,"t":${roundTime(time)},"event":"end","frames":${writer.frames + 1}${lost}${members}`)
  writer.close()
  if (unchecked.length > 0) await validateLongMessages(writer, unchecked)
  return { path: writer.path, frames: writer.frames - (loss?.frames ?? 0), loss }
}

async function validateLongMessages(
  { path, length }: TapeWriter,
  unchecked: readonly PayloadRange[],
): Promise<void> {
  try {
    const { revalidateMessages } = await import('../store/file/validate-long-messages.ts')
    revalidateMessages(
      path,
      unchecked.filter(({ end }) => end < length),
    )
  } catch {
    // The tape stays as it is: readers take a message that is not JSON for a raw line.
  }
}
