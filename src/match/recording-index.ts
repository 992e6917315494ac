import type { Turn } from '../tape/turn.ts'
import { HANDSHAKE_METHODS } from '../wire/methods.ts'
import { parseIgnored, requestKey, type Asked } from './key.ts'
import type { Path } from '../wire/path.ts'
import { playableTurns } from './playable.ts'

export type MatchOutcome =
  /** `repeated` when all recorded answers are used up and the last one is given again. */
  | { readonly kind: 'hit'; readonly turn: Turn; readonly repeated: boolean }
  | { readonly kind: 'exhausted'; readonly entry: Entry }
  /** The request is on the tape, but nobody answered it there. */
  | { readonly kind: 'unanswered'; readonly entry: Entry }
  | { readonly kind: 'unknown' }

/** A request of the tape, by the frame that holds it. */
export interface RecordedRequest extends Asked {
  readonly frame: number
}

/** All recordings of one request, in their order. */
export interface Entry {
  readonly request: RecordedRequest
  readonly turns: readonly Turn[]
  /** The frames of those recordings that were never answered. */
  readonly unanswered: readonly number[]
  readonly used: number
}

export interface IndexOptions {
  /** Paths in requests, such as `params.arguments.limit`, that are not compared. */
  readonly ignore?: readonly string[]
  /** Over-use repeats the last answer. Without it, a spent request is a miss. */
  readonly permissive?: boolean
}

/** The recorded requests by their content: each is answered in the order it was recorded, whoever asks and when. */
export class RecordingIndex {
  readonly ignore: readonly Path[]
  readonly permissive: boolean
  readonly #entries = new Map<string, Slot>()
  readonly #waiting = new Map<Turn, RecordedRequest>()

  constructor(turns: readonly Turn[], { ignore = [], permissive = false }: IndexOptions = {}) {
    this.ignore = parseIgnored(ignore)
    this.permissive = permissive
    const playable = playableTurns(turns)
    for (const turn of turns) this.#add(turn, playable.has(turn))
  }

  /** The recorded turn that answers this request, which is then used, or why there is none. */
  lookup(asked: Asked): MatchOutcome {
    const slot = this.#entries.get(requestKey(asked, this.ignore))
    if (slot === undefined) return { kind: 'unknown' }
    const last = slot.turns.at(-1)
    if (last === undefined) return { kind: 'unanswered', entry: slot }
    const turn = slot.turns[slot.used]
    if (turn !== undefined) return this.#use(slot, turn)
    if (isAskedFreely(asked.method)) return { kind: 'hit', turn: last, repeated: false }
    return this.permissive ? { kind: 'hit', turn: last, repeated: true } : { kind: 'exhausted', entry: slot }
  }

  /** Every recorded request once, however often it was recorded. */
  entries(): readonly Entry[] {
    return [...this.#entries.values()]
  }

  /** What was recorded and not asked for yet, in recorded order; the handshake and `ping` never count. */
  unconsumedKeys(): readonly RecordedRequest[] {
    return [...this.#waiting.values()]
  }

  /** The first of those: what a client that repeats the recorded session would ask for now. */
  next(): RecordedRequest | undefined {
    return this.#waiting.values().next().value
  }

  #add(turn: Turn, playable: boolean): void {
    const request = requestOf(turn)
    if (request === undefined) return
    const slot = this.#slotFor(request)
    if (!playable) return void slot.unanswered.push(request.frame)
    slot.turns.push(turn)
    if (!isAskedFreely(request.method)) this.#waiting.set(turn, request)
  }

  #slotFor(request: RecordedRequest): Slot {
    const key = requestKey(request, this.ignore)
    const slot = this.#entries.get(key) ?? { request, turns: [], unanswered: [], used: 0 }
    this.#entries.set(key, slot)
    return slot
  }

  #use(slot: Slot, turn: Turn): MatchOutcome {
    this.#waiting.delete(turn)
    slot.used++
    return { kind: 'hit', turn, repeated: false }
  }
}

interface Slot extends Entry {
  readonly turns: Turn[]
  readonly unanswered: number[]
  used: number
}

function requestOf({ trigger }: Turn): RecordedRequest | undefined {
  if (trigger?.message.kind !== 'request') return undefined
  const { method, params } = trigger.message
  return { frame: trigger.n, server: trigger.server, method, params }
}

// How often a client opens or probes a connection is its own affair, not part of the session's content.
function isAskedFreely(method: string): boolean {
  return HANDSHAKE_METHODS.has(method) || method === 'ping'
}
