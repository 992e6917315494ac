import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { isHandshakeMethod } from '../../protocol/revisions/index.ts'
import type { Turns } from '../../tape/turns.ts'

interface StopLine {
  readonly line: number
  readonly frame: number
  /** Why the run does not stop there. */
  readonly problem: string | undefined
}

interface LinesOptions {
  readonly turns: Turns
  readonly handshake: 'own' | 'recorded' | 'none'
}

const OWN_HANDSHAKE = 'Reelay sends its own handshake, so that this message is not sent'

/** The lines of a tape at which a run can stop. */
export class TapeLines {
  /** The number of the frame on each line, from line 1; 0 if the line has none. */
  readonly #frames: readonly number[]
  readonly #lineOf = new Map<number, number>()
  /** The frames of the client's messages and of the responses to them. */
  readonly #stops: ReadonlyMap<number, StopLine['problem']>

  private constructor(frames: readonly number[], stops: ReadonlyMap<number, StopLine['problem']>) {
    this.#frames = frames
    this.#stops = stops
    for (const [at, frame] of frames.entries()) if (frame > 0) this.#lineOf.set(frame, at + 1)
  }

  static async read(path: string, { turns, handshake }: LinesOptions): Promise<TapeLines> {
    const frames: number[] = []
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity }))
      frames.push(Number(/^\{"n":(\d{1,15}),/.exec(line)?.[1] ?? 0))
    const stops = new Map<number, StopLine['problem']>()
    for (const { trigger, response } of turns) {
      const method = trigger !== undefined && 'method' in trigger.message ? trigger.message.method : ''
      const isSent = handshake === 'recorded' || !isHandshakeMethod(method)
      for (const message of [trigger, response])
        if (message !== undefined) stops.set(message.n, isSent ? undefined : OWN_HANDSHAKE)
    }
    return new TapeLines(frames, stops)
  }

  /** The line of a frame; a tape that is as written has its header on line 1, and frame 1 on line 2. */
  lineOf(frame: number): number {
    return this.#lineOf.get(frame) ?? frame + 1
  }

  get last(): number {
    return this.#frames.length
  }

  /** The first place at or after a line at which a run can stop; `undefined` if there is none. */
  stopAt(line: number): StopLine | undefined {
    for (let at = Math.max(1, line); at <= this.#frames.length; at++) {
      const frame = this.#frames[at - 1] ?? 0
      if (this.#stops.has(frame)) return { line: at, frame, problem: this.#stops.get(frame) }
    }
    return undefined
  }
}
