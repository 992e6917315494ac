import { canonicalJson } from '../../../json/canonical.ts'
import type { ClassKind } from './value-class.ts'

/** The same value in every sample. */
export const constant: ClassKind = {
  name: 'constant',
  infer: (values) => {
    const [first, ...others] = values.map(canonicalJson)
    if (first === undefined || others.some((other) => other !== first)) return undefined
    return { text: 'constant', accepts: (value) => canonicalJson(value) === first }
  },
}
