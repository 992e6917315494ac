import { resolve } from 'node:path'
import { errorMessage } from '../errors.ts'
import { monotonicNow } from '../link/process/monotonic-clock.ts'
import { redactTapeHeader } from '../redact/redact-tape.ts'
import type { Redactor } from '../redact/redactor.ts'
import {
  createTape,
  reopenTape,
  type FileTrouble,
  type TapeWriter,
  type TapeLoss,
} from '../store/file/write.ts'
import { openingFrames, readProbeTape, type ProbeTape } from '../store/file/opening-frames.ts'
import type { PayloadRange } from '../store/file/mend-tape.ts'
import type { Vault, VaultSummary } from '../store/vault.ts'
import { roundTime } from '../tape/frame.ts'
import { encodeHeader, type TapeHeader, type TapeLabels } from '../tape/header.ts'
import { tapeHeader } from './tape-header.ts'

interface TapeLogOptions {
  readonly path: string
  /** The servers in the header. Called again for each further tape. */
  readonly servers: () => TapeHeader['servers']
  readonly labels: TapeLabels
  /** Replaces secrets. Without it everything is recorded unchanged. */
  readonly redactor?: Redactor | undefined
  readonly limits?: RecordingLimits | undefined
  /**
   * Continues a tape at this path that only contains the probe of a negotiating client. Such a client starts its server twice,
   * and both starts belong on one tape. The frames must have the next connection number.
   */
  readonly continuesProbe?: boolean
  /** Keeps the values that were replaced, if the user wants that. */
  readonly vault?: Vault | undefined
  /** If set, no tape is created, for this reason. */
  readonly refusal?: string | undefined
  /** Called for each new tape. There are several if tapes are rotated at a limit. */
  readonly onTape?: ((path: string) => void) | undefined
  /** Called once with a text for the user, when the tape cannot be written any more, or another program has changed its file. */
  readonly onTrouble?: ((text: string) => void) | undefined
}

/** The limits of a tape. A limit ends the tape, never the session. */
export interface RecordingLimits {
  readonly maxBytes?: number
  readonly maxMessages?: number
  /** The longest time without a message. */
  readonly idleMs?: number
  /** Starts a new tape at a limit. By default recording stops there. */
  readonly rotate?: boolean
}

/** The user's choice of what is recorded, for every transport. */
export interface RecordingRules {
  /** When the tape ends, or the next one starts. */
  readonly limits?: RecordingLimits
  /** Methods that are recorded, such as `tools/call` or `resources/*`. By default all are. */
  readonly only?: readonly string[]
  /** Methods that are not recorded. */
  readonly skip?: readonly string[]
  /** Only this many bytes are recorded of a longer message. Such a message cannot be replayed. */
  readonly cutBytes?: number
  /** A request without a response for this long is noted on the tape. */
  readonly pendingMs?: number
}

/**
 * A longer message is forwarded before it is written, if it may contain a secret or has to be parsed. Shorter ones take well
 * under a millisecond, so that they can be written first (docs/decisions/0014).
 */
export const SLOW_BYTES: number = 16 * 1024

/**
 * The tape of a running recording: one file, or several if tapes are rotated at a limit. All recorders write their frames
 * here. Nothing in here throws, so that it cannot end a session: if the tape cannot be written, the summary says why.
 */
export class TapeLog {
  readonly #options: TapeLogOptions
  readonly #limitWatch: LimitWatch | undefined
  readonly #fileCheck: NodeJS.Timeout
  readonly #closed: Promise<FinishedTape>[] = []
  #current: StartedTape | undefined
  #path: string | undefined
  #failure: string | undefined
  #crash: string | undefined
  #stoppedAt: string | undefined
  #isTroubleReported = false
  #postponed: (() => void)[] = []
  #strayLines: { readonly count: number; readonly first?: string } = { count: 0 }
  #finished: Promise<RecordingSummary> | undefined
  /** The frames of earlier tapes. */
  #pastFrames = 0
  #onTape: (tape: RecordedTape) => void = () => {}

  constructor(options: TapeLogOptions) {
    this.#options = options
    if (options.refusal === undefined) this.#open()
    else this.#failure = options.refusal
    this.#fileCheck = setInterval(() => this.#checkFile(), FILE_CHECK_MS).unref()
    options.vault?.autoSave(() => this.redactor?.replacedValues ?? [])
    if (options.limits && Object.keys(options.limits).length > 0)
      this.#limitWatch = new LimitWatch(options.limits, (limit) => this.#onLimit(limit))
  }

  /** Calls a function with the current tape, and with each further one if tapes are rotated. */
  followTapes(onTape: (tape: RecordedTape) => void): void {
    this.#onTape = onTape
    const { path } = this
    if (path !== undefined) onTape({ path, requests: this.#current?.continued?.requests ?? 0 })
  }

  /** The number of the last frame, counted over all tapes. */
  get lastFrame(): number | undefined {
    return this.writer && this.#pastFrames + this.writer.frames
  }

  /** The number on the current tape of a frame that was counted over all tapes. Returns `undefined` if it is on an earlier tape. */
  frameOnTape(frame: number): number | undefined {
    return frame > this.#pastFrames ? frame - this.#pastFrames : undefined
  }

  /** Undefined if the tape could not be created, or was closed at a limit. */
  get writer(): TapeWriter | undefined {
    return this.#current?.writer
  }

  /** The path of the current or last tape. */
  get path(): string | undefined {
    return this.#path
  }

  get failure(): string | undefined {
    return this.#failure ?? this.writer?.loss?.why ?? this.#crash
  }

  get redactor(): Redactor | undefined {
    return this.#options.redactor
  }

  /** The highest numbers of a connection and of an HTTP exchange that were on the tape when it was opened. */
  get continued(): Pick<ProbeTape, 'connections' | 'exchanges'> {
    return this.#current?.continued ?? NOT_CONTINUED
  }

  /** Milliseconds since the tape was started. */
  readonly now = (): number => monotonicNow() - (this.#current?.startedAt ?? 0)

  /** Converts a time of `monotonicNow()`, which may be before the start of the tape. */
  timeOf(when: number): number {
    return Math.max(0, when - (this.#current?.startedAt ?? 0))
  }

  /** Runs a function that writes to the tape. Its errors must not reach the session. */
  guard(work: () => void): void {
    if (this.#crash !== undefined || this.#current === undefined) return
    try {
      work()
    } catch (error) {
      this.#crash = errorMessage(error)
    }
    if (this.failure !== undefined) this.#reportTrouble(`the tape stops here: ${this.failure}`)
  }

  /** Whether frames wait that take long to write. All further frames have to wait behind them. */
  get isPostponing(): boolean {
    return this.#postponed.length > 0
  }

  /** Writes frames after the current data was forwarded, because it takes long: in this round of the event loop. */
  postpone(work: () => void): void {
    if (this.#postponed.push(work) === 1) setImmediate(() => this.writePostponed())
  }

  writePostponed(): void {
    if (this.#postponed.length === 0) return
    const postponed = this.#postponed
    this.#postponed = []
    for (const work of postponed) this.guard(work)
    this.flush()
  }

  /** Writes one frame. `rest` is everything after its time, such as `,"event":"start"`. */
  writeFrame(rest: string): void {
    this.guard(() => {
      this.bufferFrame(this.now(), rest)
      this.flush()
    })
  }

  /** Adds a frame that is written with the next flush. */
  bufferFrame(t: number, rest: string): void {
    if (this.isPostponing) this.postpone(() => this.bufferFrame(t, rest))
    else this.writer?.rareFrame(`,"t":${roundTime(t)}${rest}`)
  }

  flush(): void {
    this.writer?.flush()
  }

  /** Remembers a long message that is validated when the tape is finished. */
  readonly validateLater = (payload: PayloadRange): void => void this.#current?.unvalidated.push(payload)

  /** Counts a line on stdout of a server that is not a message. `text` is already redacted. */
  addStrayLine(text: string): void {
    this.#strayLines = { count: this.#strayLines.count + 1, first: this.#strayLines.first ?? text }
  }

  /** Counts messages that were written, and checks the limits. */
  countMessages(messages: number): void {
    if (this.#limitWatch !== undefined && this.#current !== undefined) {
      this.#limitWatch.update(messages, this.#current.writer.position)
    }
  }

  /** Writes the end frame, with `members` added to it, and closes the tape. May be called more than once. */
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
      this.#failure = errorMessage(error)
    }
  }

  /** Writing to a file that was deleted or truncated does not fail, so the user would learn of it only at the end. */
  #checkFile(): void {
    const trouble = this.#current?.writer.checkFile()
    if (trouble !== undefined) this.#reportTrouble(`${this.#path}: ${trouble.why}`)
  }

  #reportTrouble(text: string): void {
    if (this.#isTroubleReported) return
    this.#isTroubleReported = true
    this.#options.onTrouble?.(`${text}; the session goes on`)
  }

  #onLimit(limit: string): void {
    this.writePostponed()
    this.writeFrame(`,"event":"limit","limit":${JSON.stringify(limit)}`)
    this.#close()
    if (this.#options.limits?.rotate === true) this.#rotate()
    else this.#stoppedAt = limit
  }

  /** Starts the next tape with the frames that opened the sessions, so that it can be replayed without the tape before it. */
  #rotate(): void {
    const before = this.#path
    this.#open()
    if (this.#failure !== undefined) return this.#reportTrouble(`there is no further tape: ${this.#failure}`)
    let requests = 0
    this.guard(() => {
      const opening = before === undefined ? undefined : openingFrames(before, FIRST_COPIED_FRAME)
      if (opening === undefined || opening.frames.length === 0) return
      requests = opening.requests
      this.bufferFrame(this.now(), `,"event":"continued","frames":${opening.frames.length}`)
      for (const rest of opening.frames) this.bufferFrame(this.now(), rest)
      this.flush()
    })
    if (this.#path !== undefined) this.#onTape({ path: this.#path, requests })
  }

  #close(members = ''): void {
    this.writePostponed()
    const tape = this.#current
    if (tape === undefined) return
    this.#pastFrames += tape.writer.frames + 1
    this.#closed.push(finishTape(tape, this.now(), this.#crash, members))
    this.#current = undefined
  }

  async #summarize(members: string): Promise<RecordingSummary> {
    this.#limitWatch?.stop()
    clearInterval(this.#fileCheck)
    this.#close(members)
    const vault = this.#options.vault?.close() // before anything is awaited, because the process may be about to end
    const tapes = await Promise.all(this.#closed)
    return {
      path: tapes.at(-1)?.path,
      tapes: tapes.length,
      frames: tapes.reduce((sum, tape) => sum + tape.frames, 0),
      loss:
        this.#failure === undefined
          ? tapes.find((tape) => tape.loss)?.loss
          : { why: this.#failure, frames: 0 },
      secrets: this.redactor?.replacedCount ?? 0,
      ...(this.redactor !== undefined &&
        this.redactor.withheldCount > 0 && { withheld: this.redactor.withheldCount }),
      vault,
      stoppedAt: this.#stoppedAt,
      ...(this.#strayLines.count > 0 && { strayLines: this.#strayLines }),
    }
  }
}

/** The result of a recording. */
export interface RecordingSummary {
  /** The path of the tape, or of the last one. Undefined if none could be created. */
  readonly path: string | undefined
  /** The number of tapes. It is more than one only if the user asked for rotation. */
  readonly tapes: number
  readonly frames: number
  /** Why the tape is incomplete, and how many frames are missing. */
  readonly loss: TapeLoss | undefined
  /** How many different secrets were replaced by placeholders. */
  readonly secrets: number
  /** How many messages could not be searched for secrets in time and are not on the tape. Missing if there are none. */
  readonly withheld?: number
  /** Where the real values are kept, if the user asked for a vault. */
  readonly vault: VaultSummary | undefined
  /** The limit at which recording stopped while the session continued. */
  readonly stoppedAt: string | undefined
  /** Lines on stdout of a server that are not messages. Missing if there are none. */
  readonly strayLines?: { readonly count: number; readonly first?: string }
}

/** A tape that a recording has begun. */
export interface RecordedTape {
  readonly path: string
  /** How many requests of the client it has already: those that were copied from the tape before, or that opened it. */
  readonly requests: number
}

/** The frame before the copied ones says that the tape continues another. */
const FIRST_COPIED_FRAME = 2

/** A tape file that is being written. */
interface StartedTape {
  readonly writer: TapeWriter
  readonly startedAt: number
  readonly unvalidated: PayloadRange[]
  readonly continued?: ProbeTape
}

const NOT_CONTINUED = { connections: 0, exchanges: 0 }

/** Creates the file and writes its header. */
function startTape({ path, servers, labels, redactor, continuesProbe }: TapeLogOptions): StartedTape {
  const started = new Date()
  const startedAt = monotonicNow()
  const line = encodeHeader(redactTapeHeader(tapeHeader(started, servers(), labels), redactor))
  const continued = continuesProbe === true ? continueProbeTape(resolve(path), line) : undefined
  if (continued !== undefined) return continued
  const writer = createTape(path)
  writer.start(line)
  return { writer, startedAt, unvalidated: [] }
}

function continueProbeTape(path: string, header: string): StartedTape | undefined {
  try {
    const probe = readProbeTape(path, header)
    const isStillSame = (): boolean => readProbeTape(path, header) !== undefined
    const writer = probe && reopenTape(path, probe, isStillSame)
    if (probe === undefined || writer === undefined) return undefined
    const startedAt = monotonicNow() - Math.max(0, Date.now() - Date.parse(probe.started))
    return { writer, startedAt, unvalidated: [], continued: probe }
  } catch {
    return undefined // then the tape gets a name of its own
  }
}

interface FinishedTape {
  readonly path: string
  readonly frames: number
  readonly loss: TapeLoss | undefined
}

/** Writes the end frame, closes the file, and validates the long messages that were not validated during the session. */
async function finishTape(
  { writer, unvalidated }: StartedTape,
  time: number,
  crash: string | undefined,
  members: string,
): Promise<FinishedTape> {
  const loss = writer.loss ?? (crash === undefined ? undefined : { why: crash, frames: 0 })
  const lost = loss === undefined ? '' : `,"lost":${loss.frames}`
  writer.retryAfterFailure() // a full disk may have room for this one line, which says how much is missing
  writer.rareFrame(`,"t":${roundTime(time)},"event":"end","frames":${writer.frames + 1}${lost}${members}`)
  writer.flush()
  const trouble = writer.checkFile()
  writer.close()
  if (trouble !== undefined) return changedTape(writer, trouble)
  if (unvalidated.length > 0) await validateLongMessages(writer, unvalidated)
  return { path: writer.path, frames: writer.frames - (loss?.frames ?? 0), loss }
}

/** Describes a tape that another program has deleted, moved or truncated, and restores it if that is possible. */
async function changedTape(
  { path, header, frames }: TapeWriter,
  { kind, why }: FileTrouble,
): Promise<FinishedTape> {
  if (kind === 'moved') return { path, frames, loss: { why, frames: 0 } }
  const left = kind === 'deleted' ? 0 : await restoredFrames(path, header)
  return { path, frames: left, loss: { why, frames: frames - left } }
}

async function restoredFrames(path: string, header: string): Promise<number> {
  try {
    const { restoreTruncatedTape } = await import('../store/file/mend-tape.ts')
    return await restoreTruncatedTape(path, header)
  } catch {
    return 0 // the file cannot be read or written any more
  }
}

async function validateLongMessages(
  { path, length }: TapeWriter,
  unvalidated: readonly PayloadRange[],
): Promise<void> {
  try {
    const { revalidateMessages } = await import('../store/file/mend-tape.ts')
    revalidateMessages(
      path,
      unvalidated.filter(({ end }) => end < length),
    )
  } catch {
    // The tape stays unchanged: readers treat a message that is not JSON as a raw line.
  }
}

const FILE_CHECK_MS = 1000

/** Calls `onLimit` with the name of the option when a limit is reached, once for each tape. */
class LimitWatch {
  readonly #limits: RecordingLimits
  readonly #onLimit: (limit: string) => void
  readonly #idle: NodeJS.Timeout | undefined
  #messages = 0
  #isIdleReported = false

  constructor(limits: RecordingLimits, onLimit: (limit: string) => void) {
    this.#limits = limits
    this.#onLimit = onLimit
    if (limits.idleMs !== undefined) this.#idle = setTimeout(() => this.#onIdle(), limits.idleMs).unref()
  }

  /** Has to be called after each write, with the number of new messages and the size of the tape. */
  update(messages: number, bytes: number): void {
    const { maxBytes = Infinity, maxMessages = Infinity } = this.#limits
    this.#messages += messages
    this.#isIdleReported = false
    this.#idle?.refresh()
    if (bytes >= maxBytes) this.#report('max-size')
    else if (this.#messages >= maxMessages) this.#report('max-messages')
  }

  stop(): void {
    clearTimeout(this.#idle)
  }

  /** A session that stays idle reaches this limit only once. */
  #onIdle(): void {
    if (this.#isIdleReported) return
    this.#report('idle')
    this.#isIdleReported = true
  }

  #report(limit: string): void {
    this.#messages = 0
    this.#onLimit(limit)
  }
}
