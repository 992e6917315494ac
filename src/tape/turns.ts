import type { JsonRange } from '../json/scan.ts'
import {
  type Batch,
  type Message,
  type Notification,
  type Request,
  hasEnvelope,
  toolOrPromptName,
} from '../protocol/message.ts'
import type { FrameOrigin } from './frame.ts'

/** One JSON-RPC message of a tape: a whole message frame, or one item of a batch. */
export interface RecordedMessage extends FrameOrigin {
  /** The text of this message, without the rest of its batch. */
  readonly text: string
  readonly message: Exclude<Message, Batch>
  /** The range of its id in the text, if it is known. */
  readonly id?: JsonRange
  /** Its index in the batch, if it is part of one. */
  readonly item?: number
}

/** A message of the client and what followed from it, in recorded order. If the trigger is a request, the turn is an exchange. */
export interface Turn {
  /** A request or notification of the client; `undefined` for messages that the server sent before any of the client. */
  readonly trigger: RecordedMessage | undefined
  readonly steps: readonly TurnStep[]
  /** The response to the trigger, which is also one of the steps; `undefined` if there was none. */
  readonly response: RecordedMessage | undefined
  /** The frame of a response of which only the beginning was recorded. Then `response` is `undefined`. */
  readonly cut?: number
  /**
   * The number of the exchange in every report: 1 for the first request of the client on the tape, whatever its server.
   * Notifications, and turns that do not come from a tape, have none.
   */
  readonly exchange?: number | undefined
}

/** The name of a message in reports: `#4` for the fourth exchange of the tape, `frame 7` for a message that is not a request. */
export function exchangeLabel({ exchange, frame }: NumberedMessage): string {
  return exchange === undefined ? `frame ${frame}` : `#${exchange}`
}

/** The name of a turn in reports, by its trigger. */
export function turnLabel({ trigger, exchange }: Turn): string {
  return exchangeLabel({ frame: trigger?.n ?? 0, exchange })
}

/** A message on a tape: its frame, and the number of the exchange that it begins. */
export interface NumberedMessage {
  readonly frame: number
  readonly exchange?: number | undefined
}

export type TurnStep =
  /** A notification of the server. */
  | { readonly kind: 'notify'; readonly message: RecordedMessage }
  /** A request of the server and the client's response, if there was one. The steps that follow wait for that response. */
  | { readonly kind: 'ask'; readonly request: RecordedMessage; readonly answer: RecordedMessage | undefined }
  /** The response to the trigger. */
  | { readonly kind: 'respond'; readonly message: RecordedMessage }

/** The messages of a turn in recorded order. */
export function messagesOfTurn({ trigger, steps }: Turn): readonly RecordedMessage[] {
  return [trigger, ...steps.flatMap(messagesOfStep)].filter((message) => message !== undefined)
}

function messagesOfStep(step: TurnStep): readonly (RecordedMessage | undefined)[] {
  return step.kind === 'ask' ? [step.request, step.answer] : [step.message]
}

/** The turns of a tape, in the order in which the client sent their triggers. */
export interface Turns extends Iterable<Turn> {
  readonly size: number
  /** Returns `undefined` if the index is out of range, or if the file has changed since the tape was opened. */
  at(index: number): Turn | undefined
}

/** The facts about a turn that are known without reading its messages. */
export interface TurnSummary {
  readonly trigger: 'request' | 'notification' | 'none'
  readonly server: string
  /** Method of the trigger; empty if the turn has no trigger. */
  readonly method: string
  /** Frame number of the trigger; 0 if the turn has no trigger. */
  readonly frame: number
  readonly answered: boolean
  /** True if the trigger names its protocol version in `_meta`, as in stateless revisions. */
  readonly enveloped: boolean
  /** True if the turn contains more than the response. */
  readonly hasSteps: boolean
  /** The tool or prompt that the trigger names. */
  readonly name: string | undefined
}

/** All turns with the same kind of trigger, server and method. */
export interface TurnKind extends Pick<TurnSummary, 'trigger' | 'server' | 'method'> {
  readonly count: number
  /** Index of the first of them. */
  readonly first: number
}

/** A request or notification of the client, as far as a key depends on it. */
export interface ClientCall {
  readonly server: string
  readonly method: string
  readonly params?: unknown
}

export type KeyOf = (call: ClientCall) => string

/** Turns by the key of their trigger. Turns with the same key form a chain. */
export interface KeyedTurns {
  /**
   * Index of the first turn with this key, or -1. With a method, which every call with this key has, a store in memory computes
   * only the keys of that method: the first answer need not wait for the keys of thousands of other calls.
   */
  first(key: string, method?: string): number
  /** Index of the turn that follows in the chain of this one, or -1. */
  next(index: number): number
  /** Reads a turn. Returns `undefined` if its key is a different one: an index on disk compares only hashes. */
  read(index: number, key: string): Turn | undefined
}

/**
 * Turns that can be searched. A store in memory and a store on disk differ in what they can tell without reading turns: the
 * methods with a body here work for every store, and a store on disk replaces them by a look into its index.
 */
export abstract class TurnStore implements Turns {
  abstract readonly size: number
  readonly #keyed = new WeakMap<KeyOf, KeyedTurns>()
  #kinds: readonly TurnKind[] | undefined
  #exchanges: Uint32Array | undefined

  abstract at(index: number): Turn | undefined
  /** The message that began the turn. A store on disk reads no other message of the turn. */
  abstract trigger(index: number): RecordedMessage | undefined
  /** Returns `NO_TURN` for an index without a turn. */
  abstract summary(index: number): TurnSummary

  kinds(): readonly TurnKind[] {
    this.#kinds ??= this.countKinds()
    return this.#kinds
  }

  /** The same `keyOf` returns the same chains, so callers should reuse the function. */
  keyedBy(keyOf: KeyOf): KeyedTurns {
    const keyed = this.#keyed.get(keyOf) ?? this.indexBy(keyOf)
    this.#keyed.set(keyOf, keyed)
    return keyed
  }

  /** The number of the exchange that a turn is; `undefined` if it is not an exchange. */
  exchangeOf(index: number): number | undefined {
    this.#exchanges ??= this.#countExchanges()
    return this.#exchanges[index] || undefined
  }

  #countExchanges(): Uint32Array {
    const exchanges = new Uint32Array(this.size)
    let count = 0
    for (let index = 0; index < this.size; index++)
      if (this.summary(index).trigger === 'request') exchanges[index] = ++count
    return exchanges
  }

  /** The response to search in, or an empty text. A store on disk returns the whole line without checking it. */
  responseText(index: number): string {
    return this.at(index)?.response?.text ?? ''
  }

  /**
   * Narrows `indexes` down to about `limit` turns whose triggers share values with the call of a key, most similar first. A
   * store that cannot tell returns all of them.
   */
  mostSimilar(_key: string, indexes: readonly number[], _limit: number): readonly number[] {
    return indexes
  }

  *[Symbol.iterator](): Generator<Turn> {
    for (let index = 0; index < this.size; index++) {
      const turn = this.at(index)
      if (turn !== undefined) yield turn
    }
  }

  protected countKinds(): readonly TurnKind[] {
    const kinds = new Map<string, TurnKind>()
    for (let index = 0; index < this.size; index++) {
      const summary = this.summary(index)
      if (summary === NO_TURN) continue
      const { trigger, server, method } = summary
      const key = JSON.stringify([trigger, server, method])
      const { count, first } = kinds.get(key) ?? { count: 0, first: index }
      kinds.set(key, { trigger, server, method, count: count + 1, first })
    }
    return [...kinds.values()]
  }

  protected indexBy(keyOf: KeyOf): KeyedTurns {
    const first = new Map<string, number>()
    const last = new Map<string, number>()
    const next = new Int32Array(this.size).fill(-1)
    const unkeyed = this.#callsByMethod()
    const addKeys = (method: string): void => {
      for (const index of unkeyed.get(method) ?? []) {
        const call = clientCallOf(this.trigger(index))
        const key = call === undefined ? '' : keyOf(call)
        if (first.has(key)) next[last.get(key) ?? 0] = index
        else first.set(key, index)
        last.set(key, index)
      }
      unkeyed.delete(method)
    }
    return {
      first: (key, method) => {
        for (const each of method === undefined ? [...unkeyed.keys()] : [method]) addKeys(each)
        return first.get(key) ?? -1
      },
      next: (index) => {
        if (unkeyed.size > 0) addKeys(this.summary(index).method)
        return next[index] ?? -1
      },
      read: (index) => this.at(index),
    }
  }

  #callsByMethod(): Map<string, number[]> {
    const indexes = new Map<string, number[]>()
    for (let index = 0; index < this.size; index++) {
      const { trigger, method } = this.summary(index)
      if (trigger === 'none') continue
      const known = indexes.get(method)
      if (known === undefined) indexes.set(method, [index])
      else known.push(index)
    }
    return indexes
  }
}

export const NO_TURN: TurnSummary = {
  trigger: 'none',
  server: '',
  method: '',
  frame: 0,
  answered: false,
  enveloped: false,
  hasSteps: false,
  name: undefined,
}

/** Makes turns searchable. Those that are not yet are read into memory. */
export function turnStoreOf(turns: readonly Turn[] | Turns): TurnStore {
  return turns instanceof TurnStore ? turns : new InMemoryTurns([...turns])
}

/** Returns `undefined` if the message is neither a request nor a notification. */
export function clientCallOf(trigger: RecordedMessage | undefined): ClientCall | undefined {
  if (trigger === undefined || !('method' in trigger.message)) return undefined
  const { method, params } = trigger.message
  return { server: trigger.server, method, params }
}

class InMemoryTurns extends TurnStore {
  readonly size: number
  readonly #turns: readonly Turn[]

  constructor(turns: readonly Turn[]) {
    super()
    this.size = turns.length
    this.#turns = turns
  }

  at(index: number): Turn | undefined {
    return this.#turns[index]
  }

  trigger(index: number): RecordedMessage | undefined {
    return this.#turns[index]?.trigger
  }

  summary(index: number): TurnSummary {
    const turn = this.#turns[index]
    return turn === undefined ? NO_TURN : new LazySummary(turn)
  }

  // The turns may be a part of a tape.
  override exchangeOf(index: number): number | undefined {
    return this.#turns[index]?.exchange
  }
}

/** Computes each fact when it is read: a caller that scans a tape usually reads one of them. */
class LazySummary implements TurnSummary {
  readonly #turn: Turn

  constructor(turn: Turn) {
    this.#turn = turn
  }

  get trigger(): TurnSummary['trigger'] {
    return this.#clientMessage?.kind ?? 'none'
  }

  get server(): string {
    return (this.#turn.trigger ?? firstServerMessage(this.#turn))?.server ?? ''
  }

  get method(): string {
    return this.#clientMessage?.method ?? ''
  }

  get frame(): number {
    return this.#turn.trigger?.n ?? 0
  }

  get answered(): boolean {
    return this.#turn.response !== undefined
  }

  get enveloped(): boolean {
    return hasEnvelope(this.#clientMessage?.params)
  }

  // A turn has at most one response.
  get hasSteps(): boolean {
    const { steps } = this.#turn
    return steps.length > 1 || (steps[0]?.kind ?? 'respond') !== 'respond'
  }

  get name(): string | undefined {
    return this.#clientMessage === undefined ? undefined : toolOrPromptName(this.#clientMessage)
  }

  get #clientMessage(): Request | Notification | undefined {
    const message = this.#turn.trigger?.message
    return message !== undefined && 'method' in message ? message : undefined
  }
}

function firstServerMessage({ steps: [step] }: Turn): RecordedMessage | undefined {
  return step?.kind === 'ask' ? step.request : step?.message
}

/** A view of the turns whose index `isChosen` accepts. Indexes stay the same; the others have no turn. */
export class FilteredTurns extends TurnStore {
  readonly size: number
  readonly #turns: TurnStore
  readonly #isChosen: (index: number) => boolean

  constructor(turns: TurnStore, isChosen: (index: number) => boolean) {
    super()
    this.size = turns.size
    this.#turns = turns
    this.#isChosen = isChosen
  }

  at(index: number): Turn | undefined {
    return this.#isChosen(index) ? this.#turns.at(index) : undefined
  }

  trigger(index: number): RecordedMessage | undefined {
    return this.#isChosen(index) ? this.#turns.trigger(index) : undefined
  }

  summary(index: number): TurnSummary {
    return this.#isChosen(index) ? this.#turns.summary(index) : NO_TURN
  }

  override exchangeOf(index: number): number | undefined {
    return this.#turns.exchangeOf(index)
  }

  override responseText(index: number): string {
    return this.#isChosen(index) ? this.#turns.responseText(index) : ''
  }

  override mostSimilar(key: string, indexes: readonly number[], limit: number): readonly number[] {
    return this.#turns.mostSimilar(key, indexes, limit)
  }

  protected override indexBy(keyOf: KeyOf): KeyedTurns {
    const keyed = this.#turns.keyedBy(keyOf)
    const chosenFrom = (start: number): number => {
      let index = start
      while (index >= 0 && !this.#isChosen(index)) index = keyed.next(index)
      return index
    }
    return {
      first: (key, method) => chosenFrom(keyed.first(key, method)),
      next: (index) => chosenFrom(keyed.next(index)),
      read: (index, key) => keyed.read(index, key),
    }
  }
}
