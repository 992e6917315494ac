import { canonicalJson } from '../../../json/canonical.ts'
import { parseJson } from '../../../json/parse.ts'
import type { ClassKind, ValueClass } from './value-class.ts'

/** The same value in every sample. */
export const constant: ClassKind = {
  name: 'constant',
  infer: (values) => {
    const [first, ...others] = values.map(canonicalJson)
    if (first === undefined || others.some((other) => other !== first)) return undefined
    return constantClass(first)
  },
  read: (written) => {
    if (!written.has('value')) throw written.invalid('value', 'is missing')
    return constantClass(canonicalJson(written.value('value')))
  },
}

function constantClass(value: string): ValueClass {
  return {
    text: 'constant',
    written: { is: 'constant', value: parseJson(value) },
    accepts: (other) => canonicalJson(other) === value,
  }
}
