import type { BindingConfidence } from '../binding.ts'
import { distinctnessOf, isNumericText } from '../values.ts'
import { relateNames, endInSameWord, isIdentifierName, isQuantityName, type NameRelation } from '../names.ts'
import type { ProducerCandidate } from './producer-candidates.ts'
import type { ConsumerCandidate } from './consumer-candidates.ts'

/** Decides if an equal value in a message of the server and in a message of the client is the same value. */
export type PairJudgement =
  | { readonly kind: 'binding'; readonly confidence: BindingConfidence; readonly reason: string }
  /** Only a second run can confirm it. */
  | { readonly kind: 'guess'; readonly confidence: 'low'; readonly reason: string }
  | { readonly kind: 'chance' }

export function judgePair(source: ProducerCandidate, use: ConsumerCandidate): PairJudgement {
  if (use.pair !== undefined) return { kind: 'binding', confidence: 'certain', reason: use.pair.why }
  const relation = relateNames(source.names, use.names)
  switch (distinctnessOf(use.value)) {
    case 'strong':
      return judgeStrong(source, use)
    case 'fair':
      return judgeFair(relation, source, use)
    case 'weak':
      return isNumericText(use.value)
        ? judgeSmallNumber(relation, source, use)
        : judgePlainWord(relation, source, use)
    case 'none':
      return CHANCE
  }
}

/** Judges a part of a text in which another part is already bound. */
export function judgeCompositePart(source: ProducerCandidate, use: ConsumerCandidate): PairJudgement {
  const isSingle = distinctnessOf(use.value) !== 'none' && /^[\p{L}\p{N}]+$/u.test(use.value)
  if (!isSingle || source.form === 'token' || !isIdentifierName(source.names)) return CHANCE
  return binding('low', `received as ${quoted(source.names.own)}, sent next to a handle`)
}

const CHANCE: PairJudgement = { kind: 'chance' }

// A client that counts far enough reaches every number that the server uses as an id.
function judgeStrong(
  { form, names: received }: ProducerCandidate,
  { value, consumer, names: sent }: ConsumerCandidate,
): PairJudgement {
  if (isNumericText(value) && isIdentifierName(received) && isQuantityName(sent)) return CHANCE
  const isLoose = form === 'token' && consumer.use === 'part'
  return binding(isLoose ? 'medium' : 'high', 'a value that is unlikely to be generated twice')
}

function judgeFair(relation: NameRelation, source: ProducerCandidate, use: ConsumerCandidate): PairJudgement {
  const isPart = use.consumer.use === 'part'
  if (isPart && source.form === 'token') return CHANCE
  if (relation === 'same' || (isNumericText(use.value) && endInSameWord(source.names, use.names)))
    return binding('medium', namesReason(source, use))
  if (isPart) return CHANCE
  if (relation === 'related' && /\d/.test(use.value)) return binding('low', 'both names indicate a handle')
  return relation === 'related' || isIdentifierName(use.names)
    ? guess('it looks like a handle, but the names differ')
    : CHANCE
}

function judgeSmallNumber(
  relation: NameRelation,
  source: ProducerCandidate,
  use: ConsumerCandidate,
): PairJudgement {
  if (use.consumer.use === 'part' && source.form === 'token') return CHANCE
  if (relation === 'same') return binding('medium', namesReason(source, use))
  return relation === 'none' || use.consumer.use === 'part'
    ? CHANCE
    : guess('a small number, and the names differ')
}

function judgePlainWord(
  relation: NameRelation,
  source: ProducerCandidate,
  use: ConsumerCandidate,
): PairJudgement {
  if (source.form === 'token' || use.consumer.use === 'part') return CHANCE
  if (relation === 'same' && isIdentifierName(source.names)) return binding('low', namesReason(source, use))
  return relation === 'related' ? guess('a plain word, and the names differ') : CHANCE
}

function namesReason({ names: received }: ProducerCandidate, { names: sent }: ConsumerCandidate): string {
  return `received as ${quoted(received.own)}, sent as ${quoted(sent.own)}: the names mean the same`
}

function quoted(words: readonly string[]): string {
  return `"${words.join(' ')}"`
}

function binding(confidence: BindingConfidence, reason: string): PairJudgement {
  return { kind: 'binding', confidence, reason }
}

function guess(reason: string): PairJudgement {
  return { kind: 'guess', confidence: 'low', reason }
}
