import { redactedFrame } from '../redact/redacted-frame.ts'
import { redactedHeader } from '../redact/redacted-header.ts'
import type { Redactor } from '../redact/redactor.ts'
import { screenRedactor } from '../serve/screen.ts'
import type { Frame } from '../tape/frame.ts'
import type { Header } from '../tape/header.ts'

/** What may be shown on a screen, which others see and logs keep: secrets get stand-ins that mean nothing. */
export function withoutSecrets(allow?: readonly RegExp[]): (text: string) => string {
  let redactor: Redactor | undefined
  return (text) => {
    redactor ??= redactorOfArguments(allow) // made when there is something to show, which most runs have not
    return redactor.text(text)
  }
}

/** A message may quote our own command line, where options say what is secret. */
function redactorOfArguments(allow: readonly RegExp[] | undefined): Redactor {
  const redactor = screenRedactor(allow)
  const words = process.argv.slice(2)
  for (const [index, shown] of redactor.command(words).entries())
    if (shown !== words[index]) redactor.learn((words[index] ?? '').replace(/^-{1,2}[\w-]+=/, ''))
  return redactor
}

/** A tape as it may be shown, and what is to become of the text in the end: a secret may be known only then. */
export interface Shown<Read> {
  readonly tape: Read
  readonly text: (text: string) => string
}

interface Readable {
  readonly header: Header
  frames(): AsyncGenerator<Frame>
  /** Many at once, of a tape that is read to its end. */
  batches?(): AsyncGenerator<readonly Frame[]>
}

/** One that was redacted has its own stand-ins, which are worth seeing. Of others nothing is cut short before it is looked at. */
export function shownTape<Read extends Readable>(tape: Read): Shown<Read> {
  if (tape.header.redaction !== undefined) return { tape, text: String }
  const redactor = screenRedactor()
  const { redaction: _, ...header } = redactedHeader(tape.header, redactor)
  return {
    tape: {
      ...tape,
      header,
      frames: () => shownFrames(tape, redactor),
      batches: () => shownBatches(tape, redactor),
    },
    text: (text) => redactor.text(text),
  }
}

async function* shownFrames(tape: Readable, redactor: Redactor): AsyncGenerator<Frame> {
  for await (const frame of tape.frames()) yield shownFrame(frame, redactor)
}

async function* shownBatches(tape: Readable, redactor: Redactor): AsyncGenerator<readonly Frame[]> {
  for await (const batch of tape.batches?.() ?? []) yield batch.map((frame) => shownFrame(frame, redactor))
}

function shownFrame(frame: Frame, redactor: Redactor): Frame {
  if (frame.kind === 'stderr') return { ...frame, stderr: redactor.text(frame.stderr) }
  return redactedFrame(frame, redactor)
}
