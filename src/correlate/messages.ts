import { ReelayError } from '../errors.ts'
import type { RecordedTurns } from '../tape/turn-store.ts'
import type { Spoken, Step, Turn } from '../tape/turn.ts'
import type { Direction } from '../wire/direction.ts'
import { isObject, member } from '../wire/message.ts'
import { HANDSHAKE_METHODS } from '../wire/methods.ts'
import { wordsOf } from './names.ts'

/** A message of a tape, with what it belongs to. What it says is read when it is asked for: the tape may be large. */
export class TapeMessage {
  /** Index of its turn. */
  readonly turn: number
  /** Number of its frame. */
  readonly n: number
  readonly item: number | undefined
  readonly server: string
  readonly dir: Direction
  readonly isResponse: boolean
  /** The method of the turn's request. */
  readonly method: string
  /** The tool that the turn calls. */
  readonly tool: string | undefined
  /** Words of what the turn is about: the tool, or the method. */
  readonly about: readonly string[]
  readonly #part: number
  readonly #turns: RecordedTurns

  constructor({ place, part, spoken, method, turn: { trigger } }: Said, turns: RecordedTurns) {
    this.turn = place
    this.n = spoken.n
    this.item = spoken.item
    this.server = spoken.server
    this.dir = spoken.dir
    this.isResponse = spoken.message.kind === 'response'
    this.method = method
    const call = trigger?.message
    const params = call?.kind === 'request' ? call.params : undefined
    this.tool = method === 'tools/call' ? nameIn(params) : undefined
    this.about = wordsAbout(this.tool ?? completedBy(params) ?? method)
    this.#part = part
    this.#turns = turns
  }

  get spoken(): Spoken {
    const spoken = this.#part === 0 ? this.#turns.trigger(this.turn) : this.#laterPart()
    if (spoken === undefined) throw changed(this.n)
    return spoken
  }

  #laterPart(): Spoken | undefined {
    const turn = this.#turns.turn(this.turn)
    return turn && partOf(turn, this.#part)
  }
}

/** A message as a tape is looked through. */
export interface Said {
  readonly spoken: Spoken
  /** Its place in the turn. */
  readonly part: number
  readonly turn: Turn
  readonly place: number
  /** The method of the turn's trigger; empty when there is none. */
  readonly method: string
}

/** Visits what was said in all turns that can hold handles, turn by turn. */
export function eachSaid(turns: RecordedTurns, visit: (said: Said) => void): void {
  for (let place = 0; place < turns.size; place++) {
    const turn = turns.turn(place)
    const method = methodOf(turn)
    if (turn === undefined || HANDSHAKE_METHODS.has(method)) continue
    for (let part = 0; part <= turn.steps.length * 2; part++) {
      const spoken = partOf(turn, part)
      if (spoken !== undefined) visit({ spoken, part, turn, place, method })
    }
  }
}

/** The message at one place of a turn; throws when the tape no longer holds it. */
export function saidAt(turns: RecordedTurns, place: number, part: number): Said {
  const turn = turns.turn(place)
  const spoken = turn && partOf(turn, part)
  if (turn === undefined || spoken === undefined) throw changed(turns.outline(place).frame)
  return { spoken, part, turn, place, method: methodOf(turn) }
}

function methodOf(turn: Turn | undefined): string {
  const message = turn?.trigger?.message
  return message !== undefined && 'method' in message ? message.method : ''
}

/** A key for one message, which no other message of its tape has. */
export function messageKey({ frame, item }: { readonly frame: number; readonly item?: number }): string {
  return item === undefined ? String(frame) : `${frame}/${item}`
}

/** The trigger, and then two for each step: what was said, and what was answered if it was a question. */
function partOf({ trigger, steps }: Turn, part: number): Spoken | undefined {
  if (part === 0) return trigger
  const step = steps[(part - 1) >> 1]
  return step && (part % 2 === 1 ? saidIn(step) : answerIn(step))
}

function saidIn(step: Step): Spoken {
  return step.kind === 'ask' ? step.request : step.message
}

function answerIn(step: Step): Spoken | undefined {
  return step.kind === 'ask' ? step.answer : undefined
}

function nameIn(params: unknown): string | undefined {
  const name = member(params, 'name')
  return typeof name === 'string' ? name : undefined
}

// A completion is about the argument that it completes.
function completedBy(params: unknown): string | undefined {
  const argument = member(params, 'argument')
  return isObject(argument) ? nameIn(argument) : undefined
}

// A tape has few tools and many calls; one with very many is no reason to keep them all.
const known = new Map<string, readonly string[]>()
const MOST_KNOWN = 1000

function wordsAbout(subject: string): readonly string[] {
  const words = known.get(subject) ?? wordsOf(subject)
  if (known.size < MOST_KNOWN) known.set(subject, words)
  return words
}

function changed(frame: number): ReelayError {
  return new ReelayError(
    'TAPE_BROKEN',
    `the tape no longer holds frame ${frame} as it was when it was opened`,
    {
      hint: 'somebody writes to it, or it is damaged: look at it with reelay inspect, and try again',
    },
  )
}
