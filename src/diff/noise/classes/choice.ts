import { canonicalJson } from '../../../json/canonical.ts'
import type { ClassKind } from './value-class.ts'

/** Few values that recur. Each was seen at least twice, so others are not expected. */
export const choice: ClassKind = {
  name: 'choice',
  infer: (values) => {
    const seen = new Map<string, number>()
    for (const value of values) seen.set(canonicalJson(value), (seen.get(canonicalJson(value)) ?? 0) + 1)
    // Texts with digits may contain a time or a count that changes slowly.
    if (values.some((value) => typeof value === 'string' && /\d/.test(value))) return undefined
    const areAll = values.every((value) => typeof value === 'boolean')
    if (!areAll && (seen.size < 2 || [...seen.values()].some((times) => times < 2))) return undefined
    const names = [...seen.keys()]
    return {
      text: areAll ? 'true or false' : `one of ${names.slice(0, MOST_NAMED).join(', ')}`,
      accepts: (value) => (areAll ? typeof value === 'boolean' : seen.has(canonicalJson(value))),
    }
  },
}

const MOST_NAMED = 5
