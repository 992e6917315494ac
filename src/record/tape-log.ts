import type { TapeWriter } from '../store/append.ts'
import { createTape } from '../store/create.ts'
import type { PayloadRange } from '../store/recheck.ts'
import type { Header } from '../tape/header.ts'
import { milliseconds } from './tap.ts'

export interface TapeLogOptions {
  readonly path: string
  readonly header: (started: Date) => Header
}

/** What became of the recording, for the line that the user sees at the end. */
export interface Summary {
  /** Where the tape is; undefined when none could be made. */
  readonly path: string | undefined
  readonly frames: number
  /** Why the tape is not whole, and how many frames it missed. */
  readonly loss: { readonly why: string; readonly frames: number } | undefined
}

/** A tape being recorded. Nothing in here can fail the session: a tape that cannot be written says so in its summary. */
export class TapeLog {
  /** Undefined when the tape could not be made. */
  readonly writer: TapeWriter | undefined
  readonly #failure: string | undefined
  readonly #began = performance.now()
  readonly #unchecked: PayloadRange[] = []
  #crash: string | undefined
  #finished: Promise<Summary> | undefined

  constructor({ path, header }: TapeLogOptions) {
    const line = JSON.stringify(header(new Date()))
    try {
      this.writer = createTape(path)
      this.writer.line(line)
      this.writer.flush()
    } catch (error) {
      this.#failure = reasonOf(error)
    }
  }

  get path(): string | undefined {
    return this.writer?.path
  }

  get failure(): string | undefined {
    return this.#failure ?? this.writer?.loss?.why ?? this.#crash
  }

  /** Milliseconds since the tape began. */
  readonly now = (): number => performance.now() - this.#began

  /** Whatever goes wrong while something is put on the tape must not reach the link. */
  put(work: () => void): void {
    if (this.#crash !== undefined) return
    try {
      work()
    } catch (error) {
      this.#crash = reasonOf(error)
    }
  }

  /** A frame that is written rarely: `rest` is all that follows its time, such as `,"event":"start"`. */
  frame(rest: string): void {
    const { writer } = this
    if (writer === undefined) return
    this.put(() => {
      writer.rareFrame(`,"t":${milliseconds(this.now())}${rest}`)
      writer.flush()
    })
  }

  /** A frame like that, of the time `t`, which waits for the next flush. */
  gather(t: number, rest: string): void {
    this.writer?.rareFrame(`,"t":${milliseconds(t)}${rest}`)
  }

  flush(): void {
    this.writer?.flush()
  }

  /** A long message that has only been glanced at. */
  readonly checkLater = (payload: PayloadRange): void => void this.#unchecked.push(payload)

  /** Writes the end frame, with these further members, and closes the tape; may be called twice. */
  finish(members = ''): Promise<Summary> {
    this.#finished ??=
      this.writer === undefined ? Promise.resolve(this.#nothing()) : this.#close(this.writer, members)
    return this.#finished
  }

  async #close(writer: TapeWriter, members: string): Promise<Summary> {
    const lost = writer.loss?.frames
    const ending = `"frames":${writer.frames + 1}${lost === undefined ? '' : `,"lost":${lost}`}${members}`
    writer.rareFrame(`,"t":${milliseconds(this.now())},"event":"end",${ending}`)
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
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
