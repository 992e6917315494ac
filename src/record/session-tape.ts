import { StringDecoder } from 'node:string_decoder'
import type { TapeWriter } from '../store/append.ts'
import { createTape } from '../store/create.ts'
import type { PayloadRange } from '../store/recheck.ts'
import type { Header } from '../tape/header.ts'
import type { Direction } from '../wire/direction.ts'
import { milliseconds, Tap } from './tap.ts'

export interface SessionTapeOptions {
  readonly path: string
  readonly server: string
  readonly header: (started: Date) => Header
  readonly maxLineBytes: number
  readonly onMessage?: (dir: Direction, text: string) => void
}

/** What became of the recording, for the line that the user sees at the end. */
export interface Summary {
  /** Where the tape is; undefined when none could be made. */
  readonly path: string | undefined
  readonly frames: number
  /** Why the tape is not whole, and how many frames it missed. */
  readonly loss: { readonly why: string; readonly frames: number } | undefined
}

/** One direction of the link, as the tape sees it. */
export interface LinkTap {
  /** Puts a chunk on the tape, and has it handed on at once. */
  readonly pass: (chunk: Uint8Array, handOn: () => void) => void
  readonly end: () => void
}

/** The tape of one session over one link. Nothing in here can fail the session. */
export class SessionTape {
  readonly #writer: TapeWriter | undefined
  readonly #failure: string | undefined
  readonly #place: string
  readonly #options: SessionTapeOptions
  readonly #stderr = new StringDecoder('utf8')
  readonly #began = performance.now()
  readonly #unchecked: PayloadRange[] = []
  #crash: string | undefined
  #finished: Summary | undefined

  constructor(options: SessionTapeOptions) {
    this.#options = options
    this.#place = `,"server":${asciiJson(options.server)},"conn":1`
    const header = options.header(new Date())
    try {
      this.#writer = createTape(options.path)
      this.#writer.line(JSON.stringify(header))
      this.#writer.flush()
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error)
    }
  }

  /** Undefined when the tape could not be made. */
  get path(): string | undefined {
    return this.#writer?.path
  }

  get failure(): string | undefined {
    return this.#failure ?? this.#writer?.loss?.why
  }

  /** What puts one direction of the link on the tape. */
  tap(dir: Direction): LinkTap {
    const writer = this.#writer
    if (writer === undefined) return { pass: (_, handOn) => handOn(), end() {} }
    const { maxLineBytes, onMessage } = this.#options
    const tap = new Tap({
      writer,
      place: `${this.#place},"dir":"${dir}"`,
      now: this.#now,
      maxLineBytes,
      onUnchecked: (payload) => void this.#unchecked.push(payload),
      ...(onMessage && { onMessage: (text: string) => onMessage(dir, text) }),
    })
    return {
      pass: (chunk, handOn) => this.#pass(tap, chunk, handOn),
      end: () => this.#tape(() => tap.end()),
    }
  }

  /** What a client has seen is on the tape, even if we are killed now: so the tape comes first, unless it would keep the link waiting. */
  #pass(tap: Tap, chunk: Uint8Array, handOn: () => void): void {
    const isLong = tap.isLong(chunk)
    if (isLong) handOn()
    this.#tape(() => tap.put(chunk))
    if (!isLong) handOn()
    this.#tape(() => tap.settle())
  }

  /** Whatever goes wrong while something is put on the tape must not reach the link. */
  #tape(put: () => void): void {
    if (this.#crash !== undefined) return
    try {
      put()
    } catch (error) {
      this.#crash = error instanceof Error ? error.message : String(error)
    }
  }

  stderr(chunk: Buffer): void {
    const text = this.#stderr.write(chunk)
    if (text !== '') this.#line(`${this.#place},"dir":"s2c","stderr":${JSON.stringify(text)}`)
  }

  event(event: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.#line(`${this.#place},${JSON.stringify({ event, ...details }).slice(1, -1)}`)
  }

  /** Writes the end frame and closes the tape; may be called twice. */
  async finish(): Promise<Summary> {
    this.#finished ??= this.#writer === undefined ? this.#nothing() : await this.#close(this.#writer)
    return this.#finished
  }

  async #close(writer: TapeWriter): Promise<Summary> {
    const lost = writer.loss?.frames
    this.#line(`,"event":"end","frames":${writer.frames + 1}${lost === undefined ? '' : `,"lost":${lost}`}`)
    writer.close()
    if (this.#unchecked.length > 0) await this.#recheck(writer)
    const loss = writer.loss ?? (this.#crash === undefined ? undefined : { why: this.#crash, frames: 0 })
    return { path: writer.path, frames: writer.frames - (loss?.frames ?? 0), loss }
  }

  async #recheck({ path, length }: TapeWriter): Promise<void> {
    try {
      const { recheck } = await import('../store/recheck.ts')
      recheck(
        path,
        this.#unchecked.filter(({ end }) => end < length),
      )
    } catch {
      // The tape stays as it is: readers take a message that is not JSON for a raw line.
    }
  }

  #nothing(): Summary {
    return { path: undefined, frames: 0, loss: { why: this.#failure ?? 'not recorded', frames: 0 } }
  }

  #line(rest: string): void {
    const writer = this.#writer
    if (writer === undefined) return
    writer.rareFrame(`,"t":${milliseconds(this.#now())}${rest}`)
    writer.flush()
  }

  readonly #now = (): number => performance.now() - this.#began
}

/** Envelopes are written byte by byte as Latin-1, so a name outside ASCII is escaped. */
function asciiJson(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
