import { redactedHeader } from '../redact/redacted-header.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { Loss, TapeWriter } from '../store/append.ts'
import { createTape } from '../store/create.ts'
import type { PayloadRange } from '../store/recheck.ts'
import type { Header } from '../tape/header.ts'
import { encodeHeader } from '../tape/header-codec.ts'
import { milliseconds } from '../tape/time.ts'
import { moment } from '../transport/moment.ts'

/** A tape that is being written. */
export interface OpenTape {
  readonly writer: TapeWriter
  readonly began: number
  readonly unchecked: PayloadRange[]
}

export interface TapeOpening {
  readonly path: string
  readonly header: (started: Date) => Header
  /** What replaces secrets; without it everything is taped as it is. */
  readonly redactor?: Redactor | undefined
}

/** Makes the file, and writes its first line. */
export function openTape({ path, header, redactor }: TapeOpening): OpenTape {
  const started = new Date()
  const began = moment()
  const line = encodeHeader(redactedHeader(header(started), redactor))
  const writer = createTape(path)
  writer.line(line)
  writer.flush()
  return { writer, began, unchecked: [] }
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
