import { decodeLeaf, jsonLeaves } from '../../json/leaves.ts'
import { findRange } from '../../json/find.ts'

/** The text with every point in time of its params moved by so many milliseconds, every other byte as it was. */
export function withMovedTimes(text: string, by: number): string {
  const range = findRange(text, ['params'])
  if (range === undefined) return text
  const params = text.slice(range.start, range.end)
  return text.slice(0, range.start) + moved(params, by) + text.slice(range.end)
}

function moved(json: string, by: number): string {
  let [written, at] = ['', 0]
  for (const { start, end } of jsonLeaves(json)) {
    const value = json[start] === '"' ? decodeLeaf(json, { start, end }) : ''
    if (!POINT_IN_TIME.test(value)) continue
    written += json.slice(at, start) + JSON.stringify(movedTime(value, by))
    at = end
  }
  return written + json.slice(at)
}

const POINT_IN_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/

function movedTime(text: string, by: number): string {
  const time = Date.parse(text)
  return Number.isNaN(time) ? text : new Date(time + by).toISOString()
}
