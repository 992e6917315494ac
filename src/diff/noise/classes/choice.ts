import { canonicalJson } from '../../../json/canonical.ts'
import { parseJson } from '../../../json/parse.ts'
import type { ClassKind, ValueClass } from './value-class.ts'

/** A small set of values, each of which was seen several times. Other values are not expected. */
export const choice: ClassKind = {
  name: 'choice',
  infer: (values) => {
    const seen = new Map<string, number>()
    for (const value of values) seen.set(canonicalJson(value), (seen.get(canonicalJson(value)) ?? 0) + 1)
    // Texts with digits may contain a time or a count that changes slowly.
    if (values.some((value) => typeof value === 'string' && /\d/.test(value))) return undefined
    const areAll = values.every((value) => typeof value === 'boolean')
    const areClosed =
      values.length >= FEWEST_SAMPLES && [...seen.values()].every((times) => times >= FEWEST_TIMES)
    if (!areAll && (seen.size < 2 || !areClosed)) return undefined
    return choiceClass(new Set(areAll ? ['true', 'false'] : seen.keys()))
  },
  read: (written) => choiceClass(new Set(written.values('values').map(canonicalJson))),
}

/** One of these values, each in canonical form. */
export function choiceClass(values: ReadonlySet<string>): ValueClass {
  const names = [...values].slice(0, MOST_NAMED)
  const more = values.size > MOST_NAMED ? ` and ${values.size - MOST_NAMED} more` : ''
  const isBoolean = values.size === 2 && values.has('true') && values.has('false')
  return {
    text: isBoolean ? 'true or false' : `one of ${names.join(', ')}${more}`,
    written: { is: 'choice', values: Array.from(values, (value) => parseJson(value)) },
    accepts: (value) => values.has(canonicalJson(value)),
  }
}

const MOST_NAMED = 5

// With fewer samples, one of three values is often missing by chance.
const FEWEST_SAMPLES = 12
const FEWEST_TIMES = 3
