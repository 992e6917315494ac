import { redactFrame, redactServerNames, redactTapeHeader } from '../../redact/redact-tape.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { createThrowawayRedactor } from '../../serve/redaction/report-redactor.ts'
import type { Frame } from '../../tape/frame.ts'
import type { TapeHeader } from '../../tape/header.ts'

/** Replaces secrets in output with placeholders, because others may see the screen and logs keep the output. */
export function createOutputRedactor(allow?: readonly RegExp[]): (text: string) => string {
  let redactor: Redactor | undefined
  return (text) => {
    redactor ??= redactorWithArguments(allow) // created on first use, because most runs show nothing
    return redactor.text(text)
  }
}

/** A message may quote the command line, in which some options mark secrets. */
function redactorWithArguments(allow: readonly RegExp[] | undefined): Redactor {
  const redactor = createThrowawayRedactor(allow)
  const words = process.argv.slice(2)
  for (const [index, shown] of redactor.command(words).entries())
    if (shown !== words[index]) redactor.learn((words[index] ?? '').replace(/^-{1,2}[\w-]+=/, ''))
  return redactor
}

/** A tape without secrets. `text` redacts the final output, because some secrets are known only after reading the whole tape. */
interface RedactedView<Read> {
  readonly tape: Read
  readonly text: (text: string) => string
}

interface ReadableTape {
  readonly header: TapeHeader
  frames(): AsyncGenerator<Frame>
  /** Returns many frames at once, from a tape that is read to its end. */
  batches?(): AsyncGenerator<readonly Frame[]>
}

/** Redacts a tape for output. A redacted tape is shown as it is. In others, secrets are replaced before any text is shortened. */
export function redactTapeForOutput<Read extends ReadableTape>(tape: Read): RedactedView<Read> {
  if (tape.header.redaction !== undefined) return { tape, text: String }
  const redactor = createThrowawayRedactor()
  const { redaction: _, ...header } = redactServerNames(redactTapeHeader(tape.header, redactor), redactor)
  return {
    tape: {
      ...tape,
      header,
      frames: () => redactedFrames(tape, redactor),
      batches: () => redactedBatches(tape, redactor),
    },
    text: (text) => redactor.text(text),
  }
}

async function* redactedFrames(tape: ReadableTape, redactor: Redactor): AsyncGenerator<Frame> {
  for await (const frame of tape.frames()) yield redactedOutputFrame(frame, redactor)
}

async function* redactedBatches(tape: ReadableTape, redactor: Redactor): AsyncGenerator<readonly Frame[]> {
  for await (const batch of tape.batches?.() ?? [])
    yield batch.map((frame) => redactedOutputFrame(frame, redactor))
}

function redactedOutputFrame(frame: Frame, redactor: Redactor): Frame {
  if (frame.kind === 'stderr') return { ...frame, stderr: redactor.text(frame.stderr) }
  return redactFrame(frame, redactor)
}
