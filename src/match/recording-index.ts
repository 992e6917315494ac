import type { Turn } from '../tape/turn.ts'
import { HANDSHAKE_METHODS } from '../wire/methods.ts'
import { parseIgnored, requestKey, type Asked } from './key.ts'
import type { Entry, Matcher, MatchOutcome, RecordedRequest } from './matcher.ts'
import type { Path } from '../wire/path.ts'
import { Recorded, requestOf, type Recordings } from './recorded.ts'

export interface IndexOptions {
  /** Paths in requests, such as `params.arguments.limit`, that are not compared. */
  readonly ignore?: readonly string[]
  /** Over-use repeats the last answer. Without it, a spent request is a miss. */
  readonly permissive?: boolean
}

/** The recorded requests by their content: each is answered in the order it was recorded, whoever asks and when. */
export class RecordingIndex implements Matcher {
  readonly ignore: readonly Path[]
  readonly permissive: boolean
  readonly #options: IndexOptions
  readonly #recorded: Recorded
  readonly #used = new Map<Recordings, number>()

  constructor(turns: readonly Turn[] | Recorded, options: IndexOptions = {}) {
    this.#options = options
    this.ignore = parseIgnored(options.ignore ?? [])
    this.permissive = options.permissive ?? false
    this.#recorded = turns instanceof Recorded ? turns : new Recorded(turns, this.ignore)
  }

  another(): RecordingIndex {
    return new RecordingIndex(this.#recorded, this.#options)
  }

  lookup(asked: Asked): MatchOutcome {
    const found = this.#recorded.ofKey(requestKey(asked, this.ignore))
    if (found === undefined) return { kind: 'unknown' }
    const last = found.turns.at(-1)
    if (last === undefined) return { kind: 'unanswered', entry: this.#entryOf(found) }
    const turn = found.turns[this.#usedOf(found)]
    if (turn !== undefined) return this.#use(found, turn)
    if (isAskedFreely(asked.method)) return { kind: 'hit', turn: last, repeated: false }
    if (this.permissive) return { kind: 'hit', turn: last, repeated: true }
    return { kind: 'exhausted', entry: this.#entryOf(found) }
  }

  entries(): readonly Entry[] {
    return this.#recorded.all().map((recordings) => this.#entryOf(recordings))
  }

  unconsumedKeys(): readonly RecordedRequest[] {
    const counted = this.#recorded.all().filter(({ request }) => !isAskedFreely(request.method))
    const left = counted.flatMap((recordings) => recordings.turns.slice(this.#usedOf(recordings)))
    const requests = left.map(requestOf).filter((request) => request !== undefined)
    return requests.toSorted((a, b) => a.frame - b.frame)
  }

  next(): RecordedRequest | undefined {
    return this.unconsumedKeys()[0]
  }

  #use(recordings: Recordings, turn: Turn): MatchOutcome {
    this.#used.set(recordings, this.#usedOf(recordings) + 1)
    return { kind: 'hit', turn, repeated: false }
  }

  #usedOf(recordings: Recordings): number {
    return this.#used.get(recordings) ?? 0
  }

  #entryOf(recordings: Recordings): Entry {
    const { request, turns, unanswered } = recordings
    const used = this.#usedOf(recordings)
    const frame = (turns[used] ?? turns.at(-1))?.trigger?.n ?? request.frame
    return { request, answers: turns.length, used, frame, unanswered }
  }
}

// How often a client opens or probes a connection is its own affair, not part of the session's content.
function isAskedFreely(method: string): boolean {
  return HANDSHAKE_METHODS.has(method) || method === 'ping'
}
