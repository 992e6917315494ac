import type { Redactor } from '../redact/redactor.ts'
import { redactFrame } from '../redact/redacted-frame.ts'
import { redactTapeHeader } from '../redact/redact-tape.ts'
import type { TapeReader } from '../store/file/read.ts'
import { encodeFrame } from '../tape/codec.ts'
import type { Frame } from '../tape/frame.ts'
import { encodeHeader } from '../tape/header-codec.ts'
import { StderrRedaction } from './stderr-texts.ts'

/** What a tape holds of secrets. */
export interface TapeRedactionSummary {
  readonly frames: number
  /** The numbers of the frames in which something was replaced. */
  readonly changed: readonly number[]
  /** Whether the header, such as its command line, holds one. */
  readonly isHeaderChanged: boolean
  /** How many different values were replaced. */
  readonly secrets: number
}

/**
 * Writes the lines of a tape without its secrets. The tape is read twice: what is found to be secret late in a session is
 * replaced in the beginning, too.
 */
export async function writeRedactedTape(
  reader: TapeReader,
  redactor: Redactor,
  write: (line: string) => void,
): Promise<TapeRedactionSummary> {
  const stderr = await learnTapeSecrets(reader, redactor)
  const header = redactTapeHeader(reader.header, redactor)
  write(encodeHeader(header))
  const changed: number[] = []
  let frames = 0
  for await (const frame of reader.frames()) {
    frames++
    const line = encodeFrame(redactTapeFrame(frame, redactor, stderr))
    if (line !== encodeFrame(frame)) changed.push(frame.n)
    write(line)
  }
  const isHeaderChanged =
    JSON.stringify({ ...header, redaction: 0 }) !== JSON.stringify({ ...reader.header, redaction: 0 })
  return { frames, changed, isHeaderChanged, secrets: redactor.replacedCount }
}

/** Finds what is secret on a tape, and gives what its stderr frames become by their numbers. */
export async function learnTapeSecrets(
  reader: TapeReader,
  redactor: Redactor,
): Promise<ReadonlyMap<number, string>> {
  const texts = new StderrRedaction()
  redactTapeHeader(reader.header, redactor)
  for await (const frame of reader.frames()) {
    if (frame.kind === 'stderr') texts.add(frame)
    else redactFrame(frame, redactor)
  }
  texts.redactedTexts(redactor)
  return texts.redactedTexts(redactor)
}

function redactTapeFrame(frame: Frame, redactor: Redactor, stderr: ReadonlyMap<number, string>): Frame {
  if (frame.kind === 'stderr') return { ...frame, stderr: stderr.get(frame.n) ?? '' }
  return redactFrame(frame, redactor)
}
