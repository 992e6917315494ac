import { isObject } from '../../../json/parse.ts'
import type { JsonPath } from '../../../json/path.ts'
import { jsonTypeOf, type JsonType } from '../../difference.ts'
import { choice } from './choice.ts'
import { readMembers } from './class-reader.ts'
import { constant } from './constant.ts'
import { identifier } from './identifier.ts'
import { counter, number } from './number.ts'
import { shuffledLines, shuffledWords, similarLines } from './shuffled.ts'
import { list, object } from './structure.ts'
import { anyText, optionalText, paddedText, template } from './text.ts'
import { time } from './time.ts'
import { uuid } from './uuid.ts'
import type { ClassKind, ValueClass } from './value-class.ts'

/** All kinds of classes, the narrowest first. The first that fits all samples is used. */
const CLASS_KINDS: readonly ClassKind[] = [
  uuid,
  time,
  counter,
  number,
  choice,
  object,
  list,
  constant,
  shuffledLines,
  shuffledWords,
  identifier,
  similarLines,
  template,
  anyText,
]

/** Finds the class of values that were seen in the same place. Values of different types have a class for each type. */
export function inferClass(values: readonly unknown[]): ValueClass {
  const types = new Set(values.map(jsonTypeOf))
  const classes = new Map(
    Array.from(types, (type) => [type, inferOfType(values.filter((value) => jsonTypeOf(value) === type))]),
  )
  const [first] = classes.values()
  return first !== undefined && classes.size === 1 ? first : classByType(classes)
}

function inferOfType(values: readonly unknown[]): ValueClass {
  // Values that are equal in several samples are fixed, even if they look random.
  const fixed = values.length > 1 ? constant.infer(values, inferClass) : undefined
  if (fixed !== undefined) return fixed
  for (const kind of CLASS_KINDS) {
    const found = kind.infer(values, inferClass)
    if (found !== undefined) return found
  }
  return NOTHING
}

const NOTHING: ValueClass = { text: 'nothing', written: { is: 'nothing' }, accepts: () => false }

/** Values of several JSON types, each with its class. */
const byType: ClassKind = {
  name: 'by type',
  infer: () => undefined,
  read: (written) => classByType(written.members('types')),
}

function classByType(classes: ReadonlyMap<string, ValueClass>): ValueClass {
  const types = classes as ReadonlyMap<JsonType, ValueClass>
  return {
    text: Array.from(classes.values(), ({ text }) => text).join(', or '),
    written: {
      is: byType.name,
      types: Object.fromEntries(Array.from(classes, ([type, one]) => [type, one.written])),
    },
    accepts: (value, context) => types.get(jsonTypeOf(value))?.accepts(value, context) === true,
    child: (segment) => types.get(typeof segment === 'number' ? 'array' : 'object')?.child?.(segment),
  }
}

/** Any value at all. It is never learned: only people accept it. */
export const ANY_CLASS: ValueClass = {
  text: 'anything',
  written: { is: 'any' },
  accepts: () => true,
  child: () => ANY_CLASS,
}

const anything: ClassKind = { name: 'any', infer: () => undefined, read: () => ANY_CLASS }
const nothing: ClassKind = { name: 'nothing', infer: () => undefined, read: () => NOTHING }

const WRITTEN_KINDS: ReadonlyMap<string, ClassKind> = new Map(
  [...CLASS_KINDS, optionalText, paddedText, byType, anything, nothing].map((kind) => [kind.name, kind]),
)

/** The kinds that people can name for a value. */
export const NAMED_KINDS: readonly string[] = [anything.name, ...CLASS_KINDS.map(({ name }) => name)]

/** Infers the class of a kind that the user names. Returns `undefined` if a value does not fit. */
export function inferNamedClass(kind: string, values: readonly unknown[]): ValueClass | undefined {
  return kind === anything.name ? ANY_CLASS : WRITTEN_KINDS.get(kind)?.infer(values, inferClass)
}

/** Makes a class from its written form, which may come from anybody. `invalid` makes the error for a wrong place. */
export function readClass(
  value: unknown,
  invalid: (path: JsonPath, why: string) => Error,
  path: JsonPath = [],
): ValueClass {
  if (path.length > MAX_DEPTH) throw invalid(path, 'is nested too deeply')
  if (!isObject(value)) throw invalid(path, 'is not a class such as { is: uuid, versions: ["4"] }')
  const kind = WRITTEN_KINDS.get(String(value['is']))
  if (kind === undefined)
    throw invalid([...path, 'is'], `is not one of ${[...WRITTEN_KINDS.keys()].join(', ')}`)
  const readPart = (part: unknown, at: JsonPath): ValueClass => readClass(part, invalid, at)
  return readMembers(value, { path, readPart, invalid }, kind.read)
}

const MAX_DEPTH = 100
