import type { BindingConfidence } from '../binding.ts'
import { distinctnessOf, isNumericText } from '../values.ts'
import { relateNames, endInSameWord, isIdentifierName, isQuantityName, type NameRelation } from '../names.ts'
import type { ProducerCandidate } from './producer-candidates.ts'
import type { ConsumerCandidate } from './consumer-candidates.ts'

/** Whether a value that was said here and sent there is one and the same. */
export type PairJudgement =
  | { readonly kind: 'binding'; readonly confidence: BindingConfidence; readonly reason: string }
  /** It needs a second run. */
  | { readonly kind: 'guess'; readonly confidence: 'low'; readonly reason: string }
  | { readonly kind: 'chance' }

export function judgePair(sighting: ProducerCandidate, use: ConsumerCandidate): PairJudgement {
  if (use.pair !== undefined) return { kind: 'binding', confidence: 'certain', reason: use.pair.why }
  const family = relateNames(sighting.names, use.names)
  switch (distinctnessOf(use.value)) {
    case 'strong':
      return judgeStrong(sighting, use)
    case 'fair':
      return judgeFair(family, sighting, use)
    case 'weak':
      return isNumericText(use.value)
        ? judgeSmallNumber(family, sighting, use)
        : judgePlainWord(family, sighting, use)
    case 'none':
      return CHANCE
  }
}

/** The same for a part of a text of which another part is bound. */
export function judgeCompositePart(sighting: ProducerCandidate, use: ConsumerCandidate): PairJudgement {
  const isSingle = distinctnessOf(use.value) !== 'none' && /^[\p{L}\p{N}]+$/u.test(use.value)
  if (!isSingle || sighting.form === 'token' || !isIdentifierName(sighting.names)) return CHANCE
  return binding('low', `said as ${quoted(sighting.names.own)}, sent beside a handle`)
}

const CHANCE: PairJudgement = { kind: 'chance' }

// A client that counts far comes by every number that the server gave to something.
function judgeStrong(
  { form, names: said }: ProducerCandidate,
  { value, consumer, names: sent }: ConsumerCandidate,
): PairJudgement {
  if (isNumericText(value) && isIdentifierName(said) && isQuantityName(sent)) return CHANCE
  const isLoose = form === 'token' && consumer.use === 'part'
  return binding(isLoose ? 'medium' : 'high', 'a value that nobody makes up twice')
}

function judgeFair(family: NameRelation, sighting: ProducerCandidate, use: ConsumerCandidate): PairJudgement {
  const isPart = use.consumer.use === 'part'
  if (isPart && sighting.form === 'token') return CHANCE
  if (family === 'same' || (isNumericText(use.value) && endInSameWord(sighting.names, use.names)))
    return binding('medium', namesReason(sighting, use))
  if (isPart) return CHANCE
  if (family === 'kin' && /\d/.test(use.value))
    return binding('low', 'both names say that they hold a handle')
  return family === 'kin' || isIdentifierName(use.names)
    ? guess('it reads like a handle, but the names do not say the same')
    : CHANCE
}

function judgeSmallNumber(
  family: NameRelation,
  sighting: ProducerCandidate,
  use: ConsumerCandidate,
): PairJudgement {
  if (use.consumer.use === 'part' && sighting.form === 'token') return CHANCE
  if (family === 'same') return binding('medium', namesReason(sighting, use))
  return family === 'none' || use.consumer.use === 'part'
    ? CHANCE
    : guess('a small number, and the names do not say the same')
}

function judgePlainWord(
  family: NameRelation,
  sighting: ProducerCandidate,
  use: ConsumerCandidate,
): PairJudgement {
  if (sighting.form === 'token' || use.consumer.use === 'part') return CHANCE
  if (family === 'same' && isIdentifierName(sighting.names)) return binding('low', namesReason(sighting, use))
  return family === 'kin' ? guess('a plain word, and the names do not say the same') : CHANCE
}

function namesReason({ names: said }: ProducerCandidate, { names: sent }: ConsumerCandidate): string {
  return `said as ${quoted(said.own)}, sent as ${quoted(sent.own)}: the names mean the same`
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
