import { heldTurns, type TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { isFreelyAsked } from './freely-asked.ts'
import { parseIgnored, type Asked } from './key.ts'
import type { Entry, Matcher, MatchOutcome, RecordedRequest, RequestKind, WantedEntries } from './matcher.ts'
import type { Path } from '../wire/path.ts'
import { Recorded, type Recordings } from './recorded.ts'
import { EVERY } from './request-kinds.ts'

export interface KeyedIndexOptions {
  /** Paths in requests, such as `params.arguments.limit`, that are not compared. */
  readonly ignore?: readonly string[]
  /** Over-use repeats the last answer. Without it, a spent request is a miss. */
  readonly permissive?: boolean
  /** Only what was sent to this server counts as recorded. */
  readonly server?: string
}

/** How far a connection has used the recordings of one request. */
interface Cursor {
  used: number
  /** Where to look for the next one; -1 when there is none. */
  next: number
  /** The place of the one that was used last; -1 when none was. */
  last: number
}

/** The recorded requests by their content: each is answered in the order it was recorded, whoever asks and when. */
export class KeyedIndex implements Matcher {
  readonly ignore: readonly Path[]
  readonly permissive: boolean
  readonly #options: KeyedIndexOptions
  readonly #recorded: Recorded
  /** By the first place of the request. */
  readonly #cursors = new Map<number, Cursor>()

  constructor(turns: readonly Turn[] | TurnStore | Recorded, options: KeyedIndexOptions = {}) {
    this.#options = options
    this.ignore = parseIgnored(options.ignore ?? [])
    this.permissive = options.permissive ?? false
    this.#recorded = recordedOf(turns, { ignore: this.ignore, server: options.server })
  }

  another(): KeyedIndex {
    return new KeyedIndex(this.#recorded, this.#options)
  }

  lookup(asked: Asked): MatchOutcome {
    const { key, first } = this.#recorded.find(asked)
    if (first < 0) return { kind: 'unknown' }
    const cursor = this.#cursors.get(first) ?? { used: 0, next: first, last: -1 }
    const found = this.#recorded.turnFrom(cursor.next, key)
    if (found === undefined) return this.#spent(asked, key, { first, last: cursor.last })
    cursor.used++
    cursor.next = this.#recorded.after(found.place)
    cursor.last = found.place
    this.#cursors.set(first, cursor)
    return { kind: 'hit', turn: found.turn, repeated: false }
  }

  kinds(): readonly RequestKind[] {
    return this.#recorded.kinds()
  }

  entries(wanted: WantedEntries = EVERY): readonly Entry[] {
    return Array.from(this.#recorded.all(wanted), (recordings) => this.#entryOf(recordings.first, recordings))
  }

  unconsumedKeys(): readonly RecordedRequest[] {
    return Array.from(this.#left(), (place) => this.#recorded.requestAt(place))
      .filter((request) => request !== undefined)
      .toSorted((a, b) => a.frame - b.frame)
  }

  next(): RecordedRequest | undefined {
    let first: number | undefined
    for (const place of this.#left()) {
      if (first === undefined || this.#recorded.frameAt(place) < this.#recorded.frameAt(first)) first = place
      if (this.#recorded.isInOrder) break
    }
    return first === undefined ? undefined : this.#recorded.requestAt(first)
  }

  #spent(asked: Asked, key: string, { first, last }: { first: number; last: number }): MatchOutcome {
    const isFree = isFreelyAsked(asked.method)
    const again = isFree || this.permissive ? this.#recorded.turnAt(last) : undefined
    if (again !== undefined) return { kind: 'hit', turn: again, repeated: !isFree }
    const recordings = this.#recorded.from(first)
    if (recordings === undefined || this.#recorded.keyOf(recordings.request) !== key)
      return { kind: 'unknown' }
    const kind = last < 0 ? 'unanswered' : 'exhausted'
    return { kind, entry: this.#entryOf(first, recordings) }
  }

  /** The places of what was not asked for. */
  *#left(): Generator<number> {
    const used = this.#usedPlaces()
    for (const place of this.#recorded.requests()) if (!used.has(place)) yield place
  }

  #usedPlaces(): ReadonlySet<number> {
    const places = new Set<number>()
    for (const [first, { next }] of this.#cursors) {
      for (let at = first; at >= 0 && at !== next; at = this.#recorded.after(at)) places.add(at)
    }
    return places
  }

  #entryOf(first: number, { request, playable, unanswered, cut }: Recordings): Entry {
    const { used } = this.#cursors.get(first) ?? { used: 0 }
    const at = playable[used] ?? playable.at(-1)
    const frame = (at === undefined ? undefined : this.#recorded.requestAt(at))?.frame ?? request.frame
    return { request, answers: playable.length, used, frame, unanswered, cut }
  }
}

function recordedOf(
  turns: readonly Turn[] | TurnStore | Recorded,
  options: { ignore: readonly Path[]; server: string | undefined },
): Recorded {
  if (turns instanceof Recorded) return turns
  return new Recorded('size' in turns ? turns : heldTurns(turns), options)
}
