import type { Redactor } from '../redact/redactor.ts'
import { redactedFrame } from '../redact/redacted-frame.ts'
import { redactedHeader } from '../redact/redacted-header.ts'
import type { TapeReader } from '../store/read.ts'
import { encodeFrame } from '../tape/codec.ts'
import type { Frame } from '../tape/frame.ts'
import { encodeHeader } from '../tape/header-codec.ts'
import { StderrTexts } from './stderr-texts.ts'

/** What a tape holds of secrets. */
export interface RedactionFacts {
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
export async function redactTape(
  reader: TapeReader,
  redactor: Redactor,
  write: (line: string) => void,
): Promise<RedactionFacts> {
  const stderr = await learn(reader, redactor)
  const header = redactedHeader(reader.header, redactor)
  write(encodeHeader(header))
  const changed: number[] = []
  let frames = 0
  for await (const frame of reader.frames()) {
    frames++
    const line = encodeFrame(redacted(frame, redactor, stderr))
    if (line !== encodeFrame(frame)) changed.push(frame.n)
    write(line)
  }
  const isHeaderChanged =
    JSON.stringify({ ...header, redaction: 0 }) !== JSON.stringify({ ...reader.header, redaction: 0 })
  return { frames, changed, isHeaderChanged, secrets: redactor.count }
}

/** Finds what is secret on a tape, and gives what its stderr frames become by their numbers. */
export async function learn(reader: TapeReader, redactor: Redactor): Promise<ReadonlyMap<number, string>> {
  const texts = new StderrTexts()
  redactedHeader(reader.header, redactor)
  for await (const frame of reader.frames()) {
    if (frame.kind === 'stderr') texts.add(frame)
    else redactedFrame(frame, redactor)
  }
  texts.redacted(redactor)
  return texts.redacted(redactor)
}

function redacted(frame: Frame, redactor: Redactor, stderr: ReadonlyMap<number, string>): Frame {
  if (frame.kind === 'stderr') return { ...frame, stderr: stderr.get(frame.n) ?? '' }
  return redactedFrame(frame, redactor)
}
