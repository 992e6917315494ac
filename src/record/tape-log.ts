import { monotonicNow } from '../link/process/monotonic-clock.ts'
import { LimitWatch, type RecordingLimits } from './limits.ts'
import { redactTapeHeader } from '../redact/redact-tape.ts'
import type { Redactor } from '../redact/redactor.ts'
import { createTape, type TapeWriter, type TapeLoss } from '../store/file/write.ts'
import { openingFrames } from '../store/file/opening-frames.ts'
import type { PayloadRange } from '../store/file/validate-long-messages.ts'
import type { Vault, VaultSummary } from '../store/vault.ts'
import { roundTime } from '../tape/frame.ts'
import { type TapeHeader, encodeHeader } from '../tape/header.ts'

interface TapeLogOptions extends StartTapeOptions {
  readonly limits?: RecordingLimits
  /** What keeps the values that were replaced, where the user asked for that. */
  readonly vault?: Vault | undefined
  /** Why no tape may be made. */
  readonly refusal?: string | undefined
  /** Told of every tape that is begun: a limit may end one and begin the next. */
  readonly onTape?: ((path: string) => void) | undefined
  /** Told once, when the tape can no longer be written. */
  readonly onTrouble?: (why: string) => void
}

/** A tape being recorded. Nothing in here can fail the session: a tape that cannot be written says so in its summary. */
export class TapeLog {
  readonly #options: TapeLogOptions
  readonly #watch: LimitWatch | undefined
  readonly #closed: Promise<FinishedTape>[] = []
  #current: StartedTape | undefined
  #path: string | undefined
  #failure: string | undefined
  #crash: string | undefined
  #stoppedAt: string | undefined
  #isTroubled = false
  #finished: Promise<RecordingSummary> | undefined

  constructor(options: TapeLogOptions) {
    this.#options = options
    if (options.refusal === undefined) this.#open()
    else this.#failure = options.refusal
    options.vault?.autoSave(() => this.redactor?.replacedValues ?? [])
    if (options.limits && Object.keys(options.limits).length > 0)
      this.#watch = new LimitWatch(options.limits, (limit) => this.#onLimit(limit))
  }

  /** Undefined when the tape could not be made, or a limit has closed it. */
  get writer(): TapeWriter | undefined {
    return this.#current?.writer
  }

  /** Where the tape is, also after it was closed. */
  get path(): string | undefined {
    return this.#path
  }

  get failure(): string | undefined {
    return this.#failure ?? this.writer?.loss?.why ?? this.#crash
  }

  get redactor(): Redactor | undefined {
    return this.#options.redactor
  }

  /** Milliseconds since the tape began. */
  readonly now = (): number => monotonicNow() - (this.#current?.began ?? 0)

  /** The same for what `moment()` said, which may lie before the tape. */
  timeOf(when: number): number {
    return Math.max(0, when - (this.#current?.began ?? 0))
  }

  /** Whatever goes wrong while something is put on the tape must not reach the link. */
  guard(work: () => void): void {
    if (this.#crash !== undefined || this.#current === undefined) return
    try {
      work()
    } catch (error) {
      this.#crash = errorReasonOf(error)
    }
    if (this.failure !== undefined) this.#reportTrouble(this.failure)
  }

  /** A frame that is written rarely: `rest` is all that follows its time, such as `,"event":"start"`. */
  writeFrame(rest: string): void {
    const { writer } = this
    if (writer === undefined) return
    this.guard(() => {
      writer.rareFrame(`,"t":${roundTime(this.now())}${rest}`)
      writer.flush()
    })
  }

  /** A frame like that, of the time `t`, which waits for the next flush. */
  bufferFrame(t: number, rest: string): void {
    this.writer?.rareFrame(`,"t":${roundTime(t)}${rest}`)
  }

  flush(): void {
    this.writer?.flush()
  }

  /** A long message that has only been glanced at. */
  readonly validateLater = (payload: PayloadRange): void => void this.#current?.unchecked.push(payload)

  /** So many more messages are on the tape: the moment to see whether a limit is reached. */
  countMessages(messages: number): void {
    if (this.#watch !== undefined && this.#current !== undefined) {
      this.#watch.update(messages, this.#current.writer.position)
    }
  }

  /** Writes the end frame, with these further members, and closes the tape; may be called twice. */
  finish(members = ''): Promise<RecordingSummary> {
    this.#finished ??= this.#summarize(members)
    return this.#finished
  }

  #open(): void {
    try {
      const tape = startTape(this.#options)
      this.#current = tape
      this.#path = tape.writer.path
      this.#options.onTape?.(tape.writer.path)
    } catch (error) {
      this.#failure = errorReasonOf(error)
    }
  }

  #reportTrouble(why: string): void {
    if (this.#isTroubled) return
    this.#isTroubled = true
    this.#options.onTrouble?.(why)
  }

  #onLimit(limit: string): void {
    this.writeFrame(`,"event":"limit","limit":${JSON.stringify(limit)}`)
    this.#close()
    if (this.#options.limits?.rotate === true) this.#rotate()
    else this.#stoppedAt = limit
  }

  /** The next tape begins with what opened the sessions that go on in it, so that it can be played by itself. */
  #rotate(): void {
    const before = this.#path
    this.#open()
    this.guard(() => {
      const opening = before === undefined ? [] : openingFrames(before)
      if (opening.length === 0) return
      this.bufferFrame(this.now(), `,"event":"continued","frames":${opening.length}`)
      for (const rest of opening) this.bufferFrame(this.now(), rest)
      this.flush()
    })
  }

  #close(members = ''): void {
    const tape = this.#current
    if (tape === undefined) return
    this.#closed.push(finishTape(tape, this.now(), this.#crash, members))
    this.#current = undefined
  }

  async #summarize(members: string): Promise<RecordingSummary> {
    this.#watch?.stop()
    this.#close(members)
    const vault = this.#options.vault?.close() // before anything is waited for: the process may be about to end
    const tapes = await Promise.all(this.#closed)
    return summarizeRecording(tapes, {
      failure: this.#failure,
      secrets: this.redactor?.replacedCount ?? 0,
      vault,
      stoppedAt: this.#stoppedAt,
    })
  }
}

function errorReasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A tape that is being written. */
interface StartedTape {
  readonly writer: TapeWriter
  readonly began: number
  readonly unchecked: PayloadRange[]
}

interface StartTapeOptions {
  readonly path: string
  readonly header: (started: Date) => TapeHeader
  /** What replaces secrets; without it everything is taped as it is. */
  readonly redactor?: Redactor | undefined
}

/** Makes the file, and writes its first line. */
function startTape({ path, header, redactor }: StartTapeOptions): StartedTape {
  const started = new Date()
  const began = monotonicNow()
  const line = encodeHeader(redactTapeHeader(header(started), redactor))
  const writer = createTape(path)
  writer.line(line)
  writer.flush()
  return { writer, began, unchecked: [] }
}

/** What became of it. */
interface FinishedTape {
  readonly path: string
  readonly frames: number
  /** Why it is not whole, and how many frames it missed. */
  readonly loss: TapeLoss | undefined
}

/** Writes its last line, and closes it; what was only glanced at while the link was busy is checked now. */
async function finishTape(
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

/** What became of the recording, for the line that the user sees at the end. */
export interface RecordingSummary {
  /** Where the tape is, the last one where there are several; undefined when none could be made. */
  readonly path: string | undefined
  /** How many tapes were written: more than one when the user asked for rotation. */
  readonly tapes: number
  readonly frames: number
  /** Why the tape is not whole, and how many frames it missed. */
  readonly loss: { readonly why: string; readonly frames: number } | undefined
  /** How many different secrets have a stand-in on the tape. */
  readonly secrets: number
  /** Where the real values are kept, when they were to be. */
  readonly vault: VaultSummary | undefined
  /** The limit at which recording stopped, while the session went on. */
  readonly stoppedAt: string | undefined
}

/** What there is to tell of a recording beside its tapes. */
interface SummaryFacts extends Pick<RecordingSummary, 'secrets' | 'vault' | 'stoppedAt'> {
  /** Why no tape, or no further one, could be made. */
  readonly failure: string | undefined
}

/** Sums up the tapes of a recording, in the order in which they were written. */
function summarizeRecording(
  tapes: readonly FinishedTape[],
  { failure, secrets, vault, stoppedAt }: SummaryFacts,
): RecordingSummary {
  return {
    path: tapes.at(-1)?.path,
    tapes: tapes.length,
    frames: tapes.reduce((sum, tape) => sum + tape.frames, 0),
    loss: failure === undefined ? tapes.find((tape) => tape.loss)?.loss : { why: failure, frames: 0 },
    secrets,
    vault,
    stoppedAt,
  }
}
