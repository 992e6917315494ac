import { ReelayError } from '../errors.ts'
import type { TurnStore } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { Path } from '../wire/path.ts'
import { briefRequest } from './brief.ts'
import type { Asked } from './key.ts'
import { matcherFor, type IndexOptions } from './matcher-for.ts'
import type { Entry, Matcher, MatchOutcome, RecordedRequest, RequestKind, WantedEntries } from './matcher.ts'
import { matchingIn } from './match-options.ts'
import type { Matching } from './matching.ts'

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

  constructor(recorded: readonly Turn[] | TurnStore | Matcher, options: IndexOptions = {}) {
    this.#matcher = 'lookup' in recorded ? recorded : matcherFor(recorded, options)
  }

  get ignore(): readonly Path[] {
    return this.#matcher.ignore
  }

  get permissive(): boolean {
    return this.#matcher.permissive
  }

  get matching(): Matching {
    return matchingIn(this.#matcher)
  }

  lookup(asked: Asked): MatchOutcome {
    return this.#matcher.lookup(asked)
  }

  /**
   * The recorded answer. What has none is an error that names the request; if permissive, the unknown is null, and over-use
   * repeats the last answer. A request that was rightly never answered is null too.
   */
  answer(asked: Asked): RecordedAnswer | null {
    const outcome = this.lookup(asked)
    if (outcome.kind === 'hit') return answerIn(outcome.turn)
    if (this.permissive && outcome.kind === 'unknown') return null
    throw notRecorded(asked, outcome, this.next())
  }

  kinds(): readonly RequestKind[] {
    return this.#matcher.kinds()
  }

  entries(wanted?: WantedEntries): readonly Entry[] {
    return this.#matcher.entries(wanted)
  }

  unconsumedKeys(): readonly RecordedRequest[] {
    return this.#matcher.unconsumedKeys()
  }

  next(): RecordedRequest | undefined {
    return this.#matcher.next()
  }

  another(): RecordingIndex {
    return new RecordingIndex(this.#matcher.another())
  }
}

function answerIn({ response }: Turn): RecordedAnswer | null {
  return response?.message.kind === 'response' ? response.message.outcome : null
}

function notRecorded(asked: Asked, { kind }: MatchOutcome, next: RecordedRequest | undefined): ReelayError {
  const expected = next === undefined ? 'nothing' : `#${next.frame} ${briefRequest(next)}`
  return new ReelayError(
    'CALL_NOT_RECORDED',
    `no recorded answer (${kind}) for ${briefRequest(asked, 400)}`,
    {
      hint: `next on the tape: ${expected}`,
    },
  )
}
