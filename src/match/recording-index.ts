import { ReelayError } from '../errors.ts'
import { type PathPattern, formatPath } from '../json/path.ts'
import { describeRequest } from './describe-request.ts'
import { KeyedMatcher } from './keyed-matcher.ts'
import type {
  RequestUsage,
  Matcher,
  MatchOutcome,
  RecordedRequest,
  RequestKind,
  UsageFilter,
} from './matcher.ts'
import { comparerOf, usesKeysOnly, createComparer, type MatchOptions } from './options.ts'
import type { RequestComparer } from './request-comparer.ts'
import { RequestGroups } from './request-groups.ts'
import type { RequestContent } from './request-key.ts'
import { StrategyMatcher } from './strategy-matcher.ts'
import { type Turns, turnStoreOf } from '../tape/turns.ts'
import type { Turn } from '../tape/turn.ts'

/** A recorded answer, as JSON-RPC has it. */
export type RecordedAnswer = { readonly result: unknown } | { readonly error: unknown }

/**
 * The recorded requests by their content: each is answered in the order it was recorded, whoever asks and when.
 *
 * @example
 * const { turns, header } = await loadTape('search.tape.jsonl')
 * const index = new RecordingIndex(turns, { match: 'subset', started: header.started })
 * index.answer({ server: 'search', method: 'tools/list' }) // { result: { tools: [...] } }
 * index.unconsumedKeys() // what was recorded and not asked for yet
 */
export class RecordingIndex implements Matcher {
  readonly #matcher: Matcher

  constructor(recorded: readonly Turn[] | Turns | Matcher, options: MatcherOptions = {}) {
    this.#matcher = 'lookup' in recorded ? recorded : createMatcher(recorded, options)
  }

  get ignore(): readonly PathPattern[] {
    return this.#matcher.ignore
  }

  get permissive(): boolean {
    return this.#matcher.permissive
  }

  get matching(): RequestComparer {
    return comparerOf(this.#matcher)
  }

  lookup(asked: RequestContent): MatchOutcome {
    return this.#matcher.lookup(asked)
  }

  /**
   * The recorded answer. What has none is an error that names the request; if permissive, the unknown is null, and over-use
   * repeats the last answer. A request that was rightly never answered is null too.
   */
  answer(asked: RequestContent): RecordedAnswer | null {
    const outcome = this.lookup(asked)
    if (outcome.kind === 'hit') return recordedAnswerOf(outcome.turn)
    if (this.permissive && outcome.kind === 'unknown') return null
    throw notRecordedError(asked, outcome, this.next())
  }

  kinds(): readonly RequestKind[] {
    return this.#matcher.kinds()
  }

  entries(wanted?: UsageFilter): readonly RequestUsage[] {
    return this.#matcher.entries(wanted)
  }

  unconsumedKeys(): readonly RecordedRequest[] {
    return this.#matcher.unconsumedKeys()
  }

  next(): RecordedRequest | undefined {
    return this.#matcher.next()
  }

  forNewConnection(): RecordingIndex {
    return new RecordingIndex(this.#matcher.forNewConnection())
  }
}

function recordedAnswerOf({ response }: Turn): RecordedAnswer | null {
  return response?.message.kind === 'response' ? response.message.outcome : null
}

function notRecordedError(
  asked: RequestContent,
  { kind }: MatchOutcome,
  next: RecordedRequest | undefined,
): ReelayError {
  const expected = next === undefined ? 'nothing' : `#${next.frame} ${describeRequest(next)}`
  return new ReelayError(
    'CALL_NOT_RECORDED',
    `no recorded answer (${kind}) for ${describeRequest(asked, 400)}`,
    {
      hint: `next on the tape: ${expected}`,
    },
  )
}

export interface MatcherOptions extends MatchOptions {
  /** Only what was sent to this server counts as recorded. */
  readonly server?: string
  /** When the recording began, as in the tape's header: the rule `relative-date` needs it. */
  readonly started?: string
  readonly now?: () => number
}

/** The index that is fast where requests are told apart by a key, or else the one that compares them. */
export function createMatcher(turns: readonly Turn[] | Turns, options: MatcherOptions = {}): Matcher {
  const { permissive = false, server, started, now = Date.now } = options
  const store = turnStoreOf(turns)
  const matching = createComparer(options)
  if (usesKeysOnly(matching)) {
    const ignore = matching.rules.map(({ path }) => formatPath(path))
    return new KeyedMatcher(store, { ignore, permissive, ...(server !== undefined && { server }) })
  }
  const shelves = new RequestGroups(store, { matching, server })
  return new StrategyMatcher(shelves, { permissive, started: Date.parse(started ?? ''), now })
}
