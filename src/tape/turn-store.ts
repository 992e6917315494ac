import type { Notification, Request } from '../protocol/message.ts'
import { hasModernEnvelope, toolOrPromptName } from '../protocol/methods.ts'
import type { RecordedMessage, Turn } from './turn.ts'

/** What is known of a turn before it is read. */
export interface TurnOutline {
  readonly trigger: 'request' | 'notification' | 'none'
  readonly server: string
  /** The trigger's method; empty when there is no trigger. */
  readonly method: string
  /** The frame of the trigger; 0 when there is none. */
  readonly frame: number
  readonly answered: boolean
  /** Whether the trigger carries the modern envelope. */
  readonly enveloped: boolean
  /** Whether more followed than an answer. */
  readonly hasSteps: boolean
  /** The tool or prompt that the trigger names. */
  readonly name: string | undefined
}

/** What can be said of an answer at a glance. */
export interface ResponsePreview {
  readonly length: number
  /** Whether a text may stand in it. */
  readonly mayContain: boolean
}

/** All turns that the same method of the same server set off. */
export interface TurnKind extends Pick<TurnOutline, 'trigger' | 'server' | 'method'> {
  readonly count: number
  /** The place of the first of them. */
  readonly first: number
}

/** What a key is made of: a request or a notification of the client. */
export interface ClientCall {
  readonly server: string
  readonly method: string
  readonly params?: unknown
}

/**
 * The turns of a tape, counted from 0 in the order in which the client spoke. They may stand on a disk, so that only what is
 * asked for is read.
 */
export interface RecordedTurns extends Iterable<Turn> {
  readonly size: number
  outline(place: number): TurnOutline
  /** None when the tape does not hold there what it held when it was looked through. */
  turn(place: number): Turn | undefined
  /** What set the turn off, without a look at what followed. */
  trigger(place: number): RecordedMessage | undefined
}

/** The same, to be searched. */
export interface TurnStore extends RecordedTurns {
  /** What there is, without a look at every turn. */
  kinds(): readonly TurnKind[]
  /** What set the turn off, without a look at what followed. */
  clientCall(place: number): ClientCall | undefined
  /** Of these places the ones whose triggers have most values in common with the call of a key, or as many as are wanted. */
  mostSimilar(key: string, places: readonly number[], most: number): readonly number[]
  /** Looks for a text in an answer, without reading it; undefined when there is no answer. */
  previewResponse(place: number, text: string): ResponsePreview | undefined
  /** The triggers by their keys. */
  keyedBy(keyOf: (called: ClientCall) => string): TurnsByKey
}

/** Places by key. */
export interface TurnsByKey {
  /** False where keys are told apart by a hash: whoever takes a turn compares the key itself, too. */
  readonly isExact: boolean
  /** The first place under the key; -1 when there is none. */
  first(key: string): number
  /** The next place under the key of this place; -1 when it is the last. */
  after(place: number): number
}

/** Turns, wherever they are. */
export function toRecordedTurns(turns: readonly Turn[] | RecordedTurns): RecordedTurns {
  return 'outline' in turns ? turns : turnsInMemory(turns)
}

/** Turns that are in memory already. */
export function turnsInMemory(turns: readonly Turn[]): TurnStore {
  return new InMemoryTurns(turns)
}

class InMemoryTurns implements TurnStore {
  readonly size: number
  readonly #turns: readonly Turn[]
  readonly #keyed = new Map<unknown, TurnsByKey>()
  #kinds: readonly TurnKind[] | undefined

  constructor(turns: readonly Turn[]) {
    this.size = turns.length
    this.#turns = turns
  }

  outline(place: number): TurnOutline {
    return new InMemoryOutline(this.#turns[place])
  }

  turn(place: number): Turn | undefined {
    return this.#turns[place]
  }

  trigger(place: number): RecordedMessage | undefined {
    return this.#turns[place]?.trigger
  }

  kinds(): readonly TurnKind[] {
    this.#kinds ??= turnKindsOf(this.size, (place) => this.outline(place))
    return this.#kinds
  }

  clientCall(place: number): ClientCall | undefined {
    return clientCallOf(this.#turns[place])
  }

  mostSimilar(_key: string, places: readonly number[]): readonly number[] {
    return places
  }

  previewResponse(place: number, text: string): ResponsePreview | undefined {
    const said = this.#turns[place]?.response?.text
    return said === undefined ? undefined : { length: said.length, mayContain: said.includes(text) }
  }

  keyedBy(keyOf: (called: ClientCall) => string): TurnsByKey {
    const places = this.#keyed.get(keyOf) ?? indexByKey(this.#turns, keyOf)
    this.#keyed.set(keyOf, places)
    return places
  }

  [Symbol.iterator](): Iterator<Turn> {
    return this.#turns[Symbol.iterator]()
  }
}

/** The request or notification that set a turn off. */
export function clientCallOf(turn: Pick<Turn, 'trigger'> | undefined): ClientCall | undefined {
  const trigger = turn?.trigger
  if (trigger === undefined || !('method' in trigger.message)) return undefined
  const { method, params } = trigger.message
  return { server: trigger.server, method, params }
}

/** The kinds of so many turns, by their outlines; a place without one does not count. */
export function turnKindsOf(
  size: number,
  outlineAt: (place: number) => TurnOutline | undefined,
): readonly TurnKind[] {
  const kinds = new Map<string, TurnKind>()
  for (let place = 0; place < size; place++) {
    const outline = outlineAt(place)
    if (outline === undefined) continue
    const { trigger, server, method } = outline
    const key = JSON.stringify([trigger, server, method])
    const { count, first } = kinds.get(key) ?? { count: 0, first: place }
    kinds.set(key, { trigger, server, method, count: count + 1, first })
  }
  return [...kinds.values()]
}

function indexByKey(turns: readonly Turn[], keyOf: (called: ClientCall) => string): TurnsByKey {
  const first = new Map<string, number>()
  const last = new Map<string, number>()
  const next = new Int32Array(turns.length).fill(-1)
  for (const [place, turn] of turns.entries()) {
    const called = clientCallOf(turn)
    if (called === undefined) continue
    const key = keyOf(called)
    if (first.has(key)) next[last.get(key) ?? 0] = place
    else first.set(key, place)
    last.set(key, place)
  }
  return { isExact: true, first: (key) => first.get(key) ?? -1, after: (place) => next[place] ?? -1 }
}

/** The outline of a turn in memory. Tapes are looked through for one word of it: each is looked up when it is asked for. */
class InMemoryOutline implements TurnOutline {
  readonly #turn: Turn | undefined

  constructor(turn: Turn | undefined) {
    this.#turn = turn
  }

  get trigger(): TurnOutline['trigger'] {
    return this.#clientMessage?.kind ?? 'none'
  }

  get server(): string {
    return (this.#turn?.trigger ?? firstServerMessage(this.#turn))?.server ?? ''
  }

  get method(): string {
    return this.#clientMessage?.method ?? ''
  }

  get frame(): number {
    return this.#turn?.trigger?.n ?? 0
  }

  get answered(): boolean {
    return this.#turn?.response !== undefined
  }

  get enveloped(): boolean {
    return hasModernEnvelope(this.#clientMessage?.params)
  }

  // There is at most one answer.
  get hasSteps(): boolean {
    const steps = this.#turn?.steps ?? []
    return steps.length > 1 || (steps[0]?.kind ?? 'respond') !== 'respond'
  }

  get name(): string | undefined {
    return this.#clientMessage === undefined ? undefined : toolOrPromptName(this.#clientMessage)
  }

  get #clientMessage(): Request | Notification | undefined {
    const message = this.#turn?.trigger?.message
    return message !== undefined && 'method' in message ? message : undefined
  }
}

function firstServerMessage(turn: Turn | undefined): RecordedMessage | undefined {
  const step = turn?.steps[0]
  return step?.kind === 'ask' ? step.request : step?.message
}
