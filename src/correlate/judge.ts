import type { Confidence } from './binding.ts'
import { distinctnessOf, isNumeric } from './distinct.ts'
import { familyOf, isSameWord, namesHandle, namesQuantity, type Family } from './names.ts'
import type { Sighting } from './sightings.ts'
import type { Use } from './uses.ts'

/** Whether a value that was said here and sent there is one and the same. */
export type Judgement =
  | { readonly kind: 'binding'; readonly confidence: Confidence; readonly reason: string }
  /** It needs a second run. */
  | { readonly kind: 'guess'; readonly confidence: 'low'; readonly reason: string }
  | { readonly kind: 'chance' }

export function judge(sighting: Sighting, use: Use): Judgement {
  if (use.pair !== undefined) return { kind: 'binding', confidence: 'certain', reason: use.pair.why }
  const family = familyOf(sighting.names, use.names)
  switch (distinctnessOf(use.value)) {
    case 'strong':
      return strong(sighting, use)
    case 'fair':
      return fair(family, sighting, use)
    case 'weak':
      return isNumeric(use.value) ? smallNumber(family, sighting, use) : plainWord(family, sighting, use)
    case 'none':
      return CHANCE
  }
}

/** The same for a part of a text of which another part is bound. */
export function judgeInComposite(sighting: Sighting, use: Use): Judgement {
  const isSingle = distinctnessOf(use.value) !== 'none' && /^[\p{L}\p{N}]+$/u.test(use.value)
  if (!isSingle || sighting.form === 'token' || !namesHandle(sighting.names)) return CHANCE
  return binding('low', `said as ${quoted(sighting.names.own)}, sent beside a handle`)
}

const CHANCE: Judgement = { kind: 'chance' }

// A client that counts far comes by every number that the server gave to something.
function strong({ form, names: said }: Sighting, { value, consumer, names: sent }: Use): Judgement {
  if (isNumeric(value) && namesHandle(said) && namesQuantity(sent)) return CHANCE
  const isLoose = form === 'token' && consumer.use === 'part'
  return binding(isLoose ? 'medium' : 'high', 'a value that nobody makes up twice')
}

function fair(family: Family, sighting: Sighting, use: Use): Judgement {
  const isPart = use.consumer.use === 'part'
  if (isPart && sighting.form === 'token') return CHANCE
  if (family === 'same' || (isNumeric(use.value) && isSameWord(sighting.names, use.names)))
    return binding('medium', namesReason(sighting, use))
  if (isPart) return CHANCE
  if (family === 'kin' && /\d/.test(use.value))
    return binding('low', 'both names say that they hold a handle')
  return family === 'kin' || namesHandle(use.names)
    ? guess('it reads like a handle, but the names do not say the same')
    : CHANCE
}

function smallNumber(family: Family, sighting: Sighting, use: Use): Judgement {
  if (use.consumer.use === 'part' && sighting.form === 'token') return CHANCE
  if (family === 'same') return binding('medium', namesReason(sighting, use))
  return family === 'none' || use.consumer.use === 'part'
    ? CHANCE
    : guess('a small number, and the names do not say the same')
}

function plainWord(family: Family, sighting: Sighting, use: Use): Judgement {
  if (sighting.form === 'token' || use.consumer.use === 'part') return CHANCE
  if (family === 'same' && namesHandle(sighting.names)) return binding('low', namesReason(sighting, use))
  return family === 'kin' ? guess('a plain word, and the names do not say the same') : CHANCE
}

function namesReason({ names: said }: Sighting, { names: sent }: Use): string {
  return `said as ${quoted(said.own)}, sent as ${quoted(sent.own)}: the names mean the same`
}

function quoted(words: readonly string[]): string {
  return `"${words.join(' ')}"`
}

function binding(confidence: Confidence, reason: string): Judgement {
  return { kind: 'binding', confidence, reason }
}

function guess(reason: string): Judgement {
  return { kind: 'guess', confidence: 'low', reason }
}
