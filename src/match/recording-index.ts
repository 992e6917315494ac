import { ReelayError } from '../errors.ts'
import type { TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { PathPattern } from '../json/path.ts'
import { describeRequest } from './describe-request.ts'
import type { RequestContent } from './request-key.ts'
import { createMatcher, type MatcherOptions } from './matcher-for.ts'
import type {
  RequestUsage,
  Matcher,
  MatchOutcome,
  RecordedRequest,
  RequestKind,
  UsageFilter,
} from './matcher.ts'
import { comparerOf } from './options.ts'
import type { RequestComparer } from './request-comparer.ts'

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

  constructor(recorded: readonly Turn[] | TurnStore | Matcher, options: MatcherOptions = {}) {
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
