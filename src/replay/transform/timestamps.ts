import { isObject } from '../../wire/message.ts'
import { rangeAt, replaceAt } from '../../wire/members.ts'
import { parseJson } from '../../wire/parse-json.ts'

/** The text with every point in time of its params moved by so many milliseconds. */
export function withMovedTimes(text: string, by: number): string {
  const range = rangeAt(text, ['params'])
  const params = range === undefined ? undefined : parseJson(text.slice(range.start, range.end))
  return params === undefined ? text : replaceAt(text, ['params'], JSON.stringify(moved(params, by, 0)))
}

const DEEPEST = 200

function moved(value: unknown, by: number, depth: number): unknown {
  if (typeof value === 'string') return POINT_IN_TIME.test(value) ? movedTime(value, by) : value
  if (depth > DEEPEST) return value
  if (Array.isArray(value)) return value.map((item) => moved(item, by, depth + 1))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, moved(one, by, depth + 1)]))
}

const POINT_IN_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/

function movedTime(text: string, by: number): string {
  const time = Date.parse(text)
  return Number.isNaN(time) ? text : new Date(time + by).toISOString()
}
