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
    return objectClass(members, required)
  },
  read: (written) => {
    const members = written.members('members')
    const optional = new Set(written.has('optional') ? written.texts('optional') : [])
    return objectClass(members, new Set([...members.keys()].filter((name) => !optional.has(name))))
  },
}

function objectClass(members: ReadonlyMap<string, ValueClass>, required: ReadonlySet<string>): ValueClass {
  const names = [...members.keys()].toSorted()
  const optional = names.filter((name) => !required.has(name))
  return {
    text: `object with ${names.join(', ')}`,
    written: {
      is: 'object',
      members: Object.fromEntries(Array.from(members, ([name, one]) => [name, one.written])),
      ...(optional.length > 0 && { optional }),
    },
    accepts: (value, context) =>
      isPlainObject(value) &&
      Object.keys(value).every((name) => members.get(name)?.accepts(value[name], context) === true) &&
      [...required].every((name) => Object.hasOwn(value, name)),
    child: (segment) => (typeof segment === 'string' ? members.get(segment) : undefined),
  }
}

/** Lists whose items have the same class. */
export const list: ClassKind = {
  name: 'list',
  infer: (values, inferPart) => {
    if (!values.every(Array.isArray)) return undefined
    const items: readonly unknown[] = values.flat()
    return listClass(items.length === 0 ? undefined : inferPart(items))
  },
  read: (written) => listClass(written.has('items') ? written.part('items') : undefined),
}

/** Without a class of items, the list is empty. */
function listClass(ofItem: ValueClass | undefined): ValueClass {
  if (ofItem === undefined)
    return {
      text: 'empty list',
      written: { is: 'list' },
      accepts: (value) => Array.isArray(value) && value.length === 0,
    }
  return {
    text: `list of ${ofItem.text}`,
    written: { is: 'list', items: ofItem.written },
    accepts: (value, context) => Array.isArray(value) && value.every((item) => ofItem.accepts(item, context)),
    child: (segment) => (typeof segment === 'number' ? ofItem : undefined),
  }
}

function isPlainObject(value: unknown): value is JsonObject {
  return isObject(value) && !(value instanceof ExactNumber)
}
