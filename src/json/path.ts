import { ReelayError } from '../errors.ts'

/** Stands for every item of an array; written `[*]`. */
export const EVERY_ITEM: unique symbol = Symbol('[*]')

/** A member's name, an item's place, or every item. */
export type PathSegment = string | number | typeof EVERY_ITEM

/** Where a value sits. Reports print a path in the very form that options take. */
export type PathPattern = readonly PathSegment[]

/** Reads `params.arguments.items[0].id`, `items[*].id` and `arguments["a.b"]`. */
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
    throw invalidPath(text, at, 'the quoted name is no JSON string', cause)
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
