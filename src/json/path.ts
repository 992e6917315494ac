import { ReelayError } from '../errors.ts'
import { isObject, type JsonObject } from './parse.ts'

/** Every item of an array, written `[*]`. */
export const EVERY_ITEM: unique symbol = Symbol('[*]')

/** The location of one value: names of members and indexes of items. */
export type JsonPath = readonly (string | number)[]

/** A path that may also name every item of an array. Reports print patterns in the form that options accept. */
export type PathPattern = readonly PathSegment[]

export type PathSegment = string | number | typeof EVERY_ITEM

/** Parses `params.arguments.items[0].id`, `items[*].id` and `arguments["a.b"]`. */
export function parsePath(text: string): PathPattern {
  const path: PathSegment[] = []
  let at = 0
  do {
    const part = parseSegmentAt(text, at, path.length === 0)
    path.push(part.segment)
    at = part.end
  } while (at < text.length)
  return path
}

export function formatPath(path: PathPattern): string {
  return path.map((segment, depth) => formatSegment(segment, depth === 0)).join('')
}

const NAME = /[^.[\]"*\s]+/y
const BRACKET = /\[(?:(?<item>\d{1,15})|(?<every>\*)|(?<name>"(?:[^"\\]|\\.)*"))\]/y

interface ParsedSegment {
  readonly segment: PathSegment
  readonly end: number
}

function parseSegmentAt(text: string, at: number, isFirst: boolean): ParsedSegment {
  if (text[at] === '[') return parseBracketAt(text, at)
  if (!isFirst && text[at] !== '.') throw invalidPath(text, at, 'expected "." or "["')
  const start = isFirst ? at : at + 1
  NAME.lastIndex = start
  const name = NAME.exec(text)?.[0]
  if (name === undefined) throw invalidPath(text, start, 'expected a name')
  return { segment: name, end: start + name.length }
}

function parseBracketAt(text: string, at: number): ParsedSegment {
  BRACKET.lastIndex = at
  const found = BRACKET.exec(text)
  if (found === null) throw invalidPath(text, at, 'expected [0], [*] or ["a name"]')
  return { segment: bracketSegment(found.groups ?? {}, text, at), end: at + found[0].length }
}

function bracketSegment(
  groups: Readonly<Record<string, string | undefined>>,
  text: string,
  at: number,
): PathSegment {
  if (groups['item'] !== undefined) return Number(groups['item'])
  if (groups['every'] !== undefined) return EVERY_ITEM
  try {
    return String(JSON.parse(groups['name'] ?? ''))
  } catch (cause) {
    throw invalidPath(text, at, 'the quoted name is not a JSON string', cause)
  }
}

function invalidPath(text: string, at: number, why: string, cause?: unknown): ReelayError {
  return new ReelayError(
    'PATH_INVALID',
    `cannot read the path ${JSON.stringify(text)}: ${why} at position ${at + 1}`,
    {
      hint: 'write it like params.arguments.limit, params.arguments.items[0].id, params.arguments.items[*].id or params.arguments["a.b"]',
      cause,
    },
  )
}

const PLAIN_NAME = /^[^.[\]"*\s]+$/

function formatSegment(segment: PathSegment, isFirst: boolean): string {
  if (segment === EVERY_ITEM) return '[*]'
  if (typeof segment === 'number') return `[${segment}]`
  if (!PLAIN_NAME.test(segment)) return `[${JSON.stringify(segment)}]`
  return isFirst ? segment : `.${segment}`
}

/** The first value that a pattern matches, or `undefined`. */
export function valueAtPath(root: unknown, path: PathPattern): unknown {
  return valuesAtPattern(root, path)[0]
}

/** All values that a pattern matches. */
export function valuesAtPattern(root: unknown, path: PathPattern): readonly unknown[] {
  return path.reduce<readonly unknown[]>(
    (values, segment) => values.flatMap((value) => childValues(value, segment)),
    [root],
  )
}

function childValues(value: unknown, segment: PathSegment): readonly unknown[] {
  if (Array.isArray(value)) {
    if (segment === EVERY_ITEM) return value
    return typeof segment === 'number' && segment < value.length ? [value[segment]] : []
  }
  return isObject(value) && typeof segment === 'string' && Object.hasOwn(value, segment)
    ? [value[segment]]
    : []
}

/** Returns a copy of the value without what the patterns match. */
export function omitPaths(value: unknown, paths: readonly PathPattern[]): unknown {
  if (paths.length === 0) return value
  if (Array.isArray(value)) return omitFromArray(value, paths)
  return isObject(value) ? omitFromObject(value, paths) : value
}

function omitFromArray(items: readonly unknown[], paths: readonly PathPattern[]): readonly unknown[] {
  const kept: unknown[] = []
  for (const [index, item] of items.entries()) {
    const inside = childPaths(paths, (segment) => segment === index || segment === EVERY_ITEM)
    if (!endsHere(inside)) kept.push(omitPaths(item, inside))
  }
  return kept
}

function omitFromObject(object: JsonObject, paths: readonly PathPattern[]): JsonObject {
  const kept: [string, unknown][] = []
  for (const [name, value] of Object.entries(object)) {
    const inside = childPaths(paths, (segment) => segment === name)
    if (!endsHere(inside)) kept.push([name, omitPaths(value, inside)])
  }
  return Object.fromEntries(kept)
}

function childPaths(
  paths: readonly PathPattern[],
  matches: (segment: PathSegment) => boolean,
): readonly PathPattern[] {
  return paths.flatMap(([first, ...rest]) => (first !== undefined && matches(first) ? [rest] : []))
}

function endsHere(paths: readonly PathPattern[]): boolean {
  return paths.some((path) => path.length === 0)
}
