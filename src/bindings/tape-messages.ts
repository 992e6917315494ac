import { ReelayError } from '../errors.ts'
import type { TurnStore, RecordedMessage, TurnStep, Turn } from '../tape/turns.ts'
import type { Direction } from '../protocol/message.ts'
import { isObject, member } from '../json/parse.ts'
import { isOpeningMethod } from '../protocol/revisions/index.ts'
import type { TapeLocation } from './binding.ts'
import { nameWords } from './names.ts'

/** A message of a tape and the facts about its turn. Its text is read on demand, because the tape may be large. */
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
  /** Words of the tool, the completed argument or the method. */
  readonly subjectWords: readonly string[]
  readonly #part: number
  readonly #turns: TurnStore

  constructor({ place, part, recorded, trigger }: TurnMessage, turns: TurnStore) {
    const method = turnMethod({ trigger })
    this.turn = place
    this.n = recorded.n
    this.item = recorded.item
    this.server = recorded.server
    this.dir = recorded.dir
    this.isResponse = recorded.message.kind === 'response'
    this.method = method
    const call = trigger?.message
    const params = call?.kind === 'request' ? call.params : undefined
    this.tool = method === 'tools/call' ? nameParam(params) : undefined
    this.subjectWords = subjectWordsOf(this.tool ?? completedArgument(params) ?? method)
    this.#part = part
    this.#turns = turns
  }

  /** Where the message is on the tape. */
  get place(): Omit<TapeLocation, 'path' | 'inside'> {
    const { turn, n: frame, item } = this
    const isRequestOrResponse = this.#part === 0 || (this.isResponse && this.dir === 's2c')
    const exchange = isRequestOrResponse ? this.#turns.exchangeOf(turn) : undefined
    return {
      turn,
      frame,
      ...(item === undefined ? {} : { item }),
      ...(exchange === undefined ? {} : { exchange }),
    }
  }

  get recorded(): RecordedMessage {
    const recorded = this.#part === 0 ? this.#turns.trigger(this.turn) : this.#laterPart()
    if (recorded === undefined) throw tapeChangedError(this.n)
    return recorded
  }

  #laterPart(): RecordedMessage | undefined {
    const turn = this.#turns.at(this.turn)
    return turn && turnPart(turn, this.#part)
  }
}

/** A message of a turn, with its position on the tape. */
export interface TurnMessage {
  readonly recorded: RecordedMessage
  /** Index of the turn. */
  readonly place: number
  /** Position in the turn: 0 is the trigger, and every step has one position for its message and one for the answer. */
  readonly part: number
  readonly trigger: RecordedMessage | undefined
}

/** The messages of a turn, in recorded order. Turns that open a session are left out: they contain no handles. */
export function messagesAt(turns: TurnStore, place: number): readonly TurnMessage[] {
  const turn = turns.at(place)
  if (turn === undefined || isOpeningMethod(turnMethod(turn))) return []
  const { trigger, steps } = turn
  const messages: TurnMessage[] = []
  for (let part = 0; part <= steps.length * 2; part++) {
    const recorded = turnPart(turn, part)
    if (recorded !== undefined) messages.push({ recorded, place, part, trigger })
  }
  return messages
}

/** The trigger of a turn, for which no other message of the turn is read. */
export function triggerAt(turns: TurnStore, place: number): TurnMessage | undefined {
  const trigger = turns.trigger(place)
  if (trigger === undefined || isOpeningMethod(turnMethod({ trigger }))) return undefined
  return { recorded: trigger, place, part: 0, trigger }
}

/** Returns the method of the trigger, or an empty text. */
export function turnMethod({ trigger }: Pick<Turn, 'trigger'>): string {
  const message = trigger?.message
  return message !== undefined && 'method' in message ? message.method : ''
}

/** Returns a key that is unique on the tape. */
export function tapeMessageKey({ frame, item }: { readonly frame: number; readonly item?: number }): string {
  return item === undefined ? String(frame) : `${frame}/${item}`
}

function turnPart({ trigger, steps }: Turn, part: number): RecordedMessage | undefined {
  if (part === 0) return trigger
  const step = steps[(part - 1) >> 1]
  return step && (part % 2 === 1 ? stepMessage(step) : stepAnswer(step))
}

function stepMessage(step: TurnStep): RecordedMessage {
  return step.kind === 'ask' ? step.request : step.message
}

function stepAnswer(step: TurnStep): RecordedMessage | undefined {
  return step.kind === 'ask' ? step.answer : undefined
}

function nameParam(params: unknown): string | undefined {
  const name = member(params, 'name')
  return typeof name === 'string' ? name : undefined
}

// The subject of a completion is the argument that it completes.
function completedArgument(params: unknown): string | undefined {
  const argument = member(params, 'argument')
  return isObject(argument) ? nameParam(argument) : undefined
}

// A tape has few tools and many calls. The cache is limited for tapes with very many tools.
const knownSubjects = new Map<string, readonly string[]>()
const MOST_KNOWN = 1000

function subjectWordsOf(subject: string): readonly string[] {
  const words = knownSubjects.get(subject) ?? nameWords(subject)
  if (knownSubjects.size < MOST_KNOWN) knownSubjects.set(subject, words)
  return words
}

function tapeChangedError(frame: number): ReelayError {
  return new ReelayError('TAPE_BROKEN', `frame ${frame} of the tape has changed since the tape was opened`, {
    hint: 'another process writes to the tape, or it is damaged: check it with `reelay inspect` and try again',
  })
}
