import type { Turn } from '../tape/turn.ts'
import { requestKey } from './key.ts'
import type { RecordedRequest } from './matcher.ts'
import type { Path } from '../wire/path.ts'
import { playableTurns } from './playable.ts'

/** All recordings of one request, in their order. */
export interface Recordings {
  readonly request: RecordedRequest
  /** Those that can be played. */
  readonly turns: readonly Turn[]
  /** The frames of those that were never answered. */
  readonly unanswered: readonly number[]
}

/** The requests of a tape by their key. It never changes, so that all connections share it. */
export class Recorded {
  readonly #byKey = new Map<string, Collected>()

  constructor(turns: readonly Turn[], ignore: readonly Path[]) {
    const playable = playableTurns(turns)
    for (const turn of turns) this.#add(turn, playable.has(turn), ignore)
  }

  ofKey(key: string): Recordings | undefined {
    return this.#byKey.get(key)
  }

  all(): readonly Recordings[] {
    return [...this.#byKey.values()]
  }

  #add(turn: Turn, playable: boolean, ignore: readonly Path[]): void {
    const request = requestOf(turn)
    if (request === undefined) return
    const key = requestKey(request, ignore)
    const recordings = this.#byKey.get(key) ?? { request, turns: [], unanswered: [] }
    this.#byKey.set(key, recordings)
    if (playable) recordings.turns.push(turn)
    else recordings.unanswered.push(request.frame)
  }
}

interface Collected extends Recordings {
  readonly turns: Turn[]
  readonly unanswered: number[]
}

/** The request that set a turn off, if it was one. */
export function requestOf({ trigger }: Turn): RecordedRequest | undefined {
  if (trigger?.message.kind !== 'request') return undefined
  const { method, params } = trigger.message
  return { frame: trigger.n, server: trigger.server, method, params }
}
