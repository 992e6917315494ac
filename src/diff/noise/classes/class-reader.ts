import { isObject, type JsonObject } from '../../../json/parse.ts'
import type { JsonPath } from '../../../json/path.ts'
import { areStrings, type ClassReader, type ValueClass } from './value-class.ts'

interface ReadClassOptions {
  readonly path: JsonPath
  readonly readPart: (value: unknown, path: JsonPath) => ValueClass
  /** Makes the error for an invalid member. */
  readonly invalid: (path: JsonPath, why: string) => Error
}

/** Reads the members of a class from data that somebody else may have written. */
export function readMembers<Result>(
  written: JsonObject,
  { path, readPart, invalid }: ReadClassOptions,
  read: (reader: ClassReader) => Result,
): Result {
  const used = new Set(['is'])
  const fail = (name: string, why: string): Error => invalid([...path, name], why)
  const value = (name: string): unknown => {
    used.add(name)
    return Object.hasOwn(written, name) ? written[name] : undefined
  }
  const values = (name: string): readonly unknown[] => {
    const list = value(name)
    if (Array.isArray(list)) return list
    throw fail(name, 'is not a list')
  }
  const result = read({
    value,
    values,
    has: (name) => Object.hasOwn(written, name),
    invalid: fail,
    text: (name) => {
      const text = value(name)
      if (typeof text === 'string') return text
      throw fail(name, 'is not a string')
    },
    texts: (name) => {
      const list = values(name)
      if (areStrings(list)) return list
      throw fail(name, 'is not a list of strings')
    },
    number: (name) => {
      const number = value(name)
      if (typeof number === 'number' && Number.isFinite(number)) return number
      throw fail(name, 'is not a number')
    },
    flag: (name) => {
      const flag = value(name) ?? false
      if (typeof flag === 'boolean') return flag
      throw fail(name, 'is not true or false')
    },
    part: (name) => readPart(value(name), [...path, name]),
    parts: (name, readOther) =>
      values(name).map((part, at) => readOther?.(part) ?? readPart(part, [...path, name, at])),
    members: (name) => {
      const members = value(name)
      if (!isObject(members)) throw fail(name, 'is not a map')
      return new Map(
        Object.entries(members).map(([key, member]) => [key, readPart(member, [...path, name, key])]),
      )
    },
  })
  const unknown = Object.keys(written).find((name) => !used.has(name))
  if (unknown !== undefined) throw fail(unknown, 'is unknown')
  return result
}
