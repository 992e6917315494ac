import { isObject, type JsonObject } from '../../../json/parse.ts'
import { ExactNumber } from '../../../json/exact-number.ts'
import type { ClassKind, ValueClass } from './value-class.ts'

/** Objects whose members have classes. A member that was missing in a sample may be missing. */
export const object: ClassKind = {
  name: 'object',
  infer: (values, inferPart) => {
    if (!values.every(isPlainObject)) return undefined
    const names = [...new Set(values.flatMap((value) => Object.keys(value)))]
    const members = new Map<string, ValueClass>()
    const required = new Set<string>()
    for (const name of names) {
      const present = values.filter((value) => Object.hasOwn(value, name))
      members.set(name, inferPart(present.map((value) => value[name])))
      if (present.length === values.length) required.add(name)
    }
    return {
      text: `object with ${names.join(', ')}`,
      accepts: (value, context) =>
        isPlainObject(value) &&
        Object.keys(value).every((name) => members.get(name)?.accepts(value[name], context) === true) &&
        [...required].every((name) => Object.hasOwn(value, name)),
      child: (segment) => (typeof segment === 'string' ? members.get(segment) : undefined),
    }
  },
}

/** Lists whose items have the same class. */
export const list: ClassKind = {
  name: 'list',
  infer: (values, inferPart) => {
    if (!values.every(Array.isArray)) return undefined
    const items: readonly unknown[] = values.flat()
    if (items.length === 0)
      return { text: 'empty list', accepts: (value) => Array.isArray(value) && value.length === 0 }
    const ofItem = inferPart(items)
    return {
      text: `list of ${ofItem.text}`,
      accepts: (value, context) =>
        Array.isArray(value) && value.every((item) => ofItem.accepts(item, context)),
      child: (segment) => (typeof segment === 'number' ? ofItem : undefined),
    }
  },
}

function isPlainObject(value: unknown): value is JsonObject {
  return isObject(value) && !(value instanceof ExactNumber)
}
