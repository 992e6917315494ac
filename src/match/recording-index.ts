import { ReelayError } from '../errors.ts'
import { exchangeLabel, type ClientCall, type Turn } from '../tape/turns.ts'
import { describeRequest } from './describe-request.ts'
import { Matcher, type MatchOutcome } from './matcher.ts'
import { toPlainRequest, type RecordedRequest } from './request-groups.ts'

/** A recorded answer, as in JSON-RPC. */
export type RecordedAnswer = { readonly result: unknown } | { readonly error: unknown }

/**
 * Answers requests from a recording. Requests are found by their content; each recording is used once, in recorded order.
 *
 * @example
 * const { turns, header } = await loadTape('search.tape.jsonl')
 * const index = new RecordingIndex(turns, { match: 'subset', started: header.started })
 * index.answer({ server: 'search', method: 'tools/list' }) // { result: { tools: [...] } }
 * index.unconsumedKeys() // the recorded requests that were not sent yet
 */
export class RecordingIndex extends Matcher {
  override forNewConnection(): RecordingIndex {
    return new RecordingIndex(this)
  }

  /** The recorded requests that were not used yet, as plain objects. */
  override unconsumedKeys(): readonly RecordedRequest[] {
    return super.unconsumedKeys().map(toPlainRequest)
  }

  /**
   * Returns the recorded answer, or `null` if the tape rightly has none, for example because the client cancelled the
   * request. Throws `CALL_NOT_RECORDED` if the request is not on the tape or is used up. With `permissive` an unknown
   * request is answered with `null`, and a used-up one with its last answer.
   */
  answer(request: ClientCall): RecordedAnswer | null {
    const outcome = this.lookup(request)
    if (outcome.kind === 'hit') return recordedAnswerOf(outcome.turn)
    if (this.permissive && outcome.kind === 'unknown') return null
    throw notRecordedError(request, outcome, this.next())
  }
}

function recordedAnswerOf({ response }: Turn): RecordedAnswer | null {
  return response?.message.kind === 'response' ? response.message.outcome : null
}

function notRecordedError(
  request: ClientCall,
  { kind }: MatchOutcome,
  next: RecordedRequest | undefined,
): ReelayError {
  const expected = next === undefined ? 'nothing' : `${exchangeLabel(next)} ${describeRequest(next)}`
  return new ReelayError(
    'CALL_NOT_RECORDED',
    `no recorded answer (${kind}) for ${describeRequest(request, 400)}`,
    { hint: `next on the tape: ${expected}` },
  )
}
