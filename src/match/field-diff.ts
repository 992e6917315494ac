import { canonicalJson } from '../wire/canonical.ts'
import { isObject, type JsonObject } from '../wire/message.ts'
import type { Path, Segment } from '../wire/path.ts'
import { sharedEnds } from '../wire/shared-ends.ts'

/** One field that is not the same; a side that lacks the field has no value at all. */
export interface Difference {
  readonly path: Path
  readonly recorded?: unknown
  readonly got?: unknown
}

export interface FieldDiff {
  /** 0 for equal values, 1 when no field is alike. */
  readonly distance: number
  readonly fields: number
  readonly differences: readonly Difference[]
  readonly equal: readonly Path[]
}

/** Whether two values of a field count as equal, where something other than equality decides; undefined elsewhere. */
export type Verdict = (path: Path, recorded: unknown, got: unknown) => boolean | undefined

/** Compares two values field by field, from `root` on. */
export function diffFields(recorded: unknown, got: unknown, root: Path, verdict?: Verdict): FieldDiff {
  const tally: Tally = { cost: 0, differences: [], equal: [], verdict }
  compare({ recorded, got }, root, tally)
  const fields = tally.differences.length + tally.equal.length
  return { distance: tally.cost / fields, fields, differences: tally.differences, equal: tally.equal }
}

interface Tally {
  cost: number
  readonly differences: Difference[]
  readonly equal: Path[]
  readonly verdict: Verdict | undefined
}

interface Sides {
  readonly recorded?: unknown
  readonly got?: unknown
}

// Deeper than this a value is compared as a whole: a hostile request must not exhaust the stack.
const DEEPEST = 60

function compare(sides: Sides, path: Path, tally: Tally): void {
  const verdict = verdictOn(sides, path, tally)
  if (verdict === true) return void tally.equal.push(path)
  const inside = path.length < DEEPEST ? sidesInside(sides) : []
  if (inside.length > 0) return inside.forEach(([segment, next]) => compare(next, [...path, segment], tally))
  if (verdict === undefined && areEqual(sides)) return void tally.equal.push(path)
  tally.differences.push({ path, ...sides })
  tally.cost += costOf(sides)
}

function verdictOn(sides: Sides, path: Path, { verdict }: Tally): boolean | undefined {
  if (verdict === undefined || !('recorded' in sides && 'got' in sides)) return undefined
  return verdict(path, sides.recorded, sides.got)
}

function sidesInside({ recorded, got }: Sides): readonly (readonly [Segment, Sides])[] {
  if (Array.isArray(recorded) && Array.isArray(got)) return itemsInside(recorded, got)
  return isObject(recorded) && isObject(got) ? membersInside(recorded, got) : []
}

function itemsInside(recorded: readonly unknown[], got: readonly unknown[]): [Segment, Sides][] {
  return Array.from({ length: Math.max(recorded.length, got.length) }, (_, place) => [
    place,
    {
      ...(place < recorded.length && { recorded: recorded[place] }),
      ...(place < got.length && { got: got[place] }),
    },
  ])
}

function membersInside(recorded: JsonObject, got: JsonObject): [Segment, Sides][] {
  const names = new Set([...Object.keys(recorded), ...Object.keys(got)])
  return [...names].map((name) => [
    name,
    {
      ...(Object.hasOwn(recorded, name) && { recorded: recorded[name] }),
      ...(Object.hasOwn(got, name) && { got: got[name] }),
    },
  ])
}

function areEqual(sides: Sides): boolean {
  if (Object.hasOwn(sides, 'recorded') !== Object.hasOwn(sides, 'got')) return false
  return canonicalJson(sides.recorded) === canonicalJson(sides.got)
}

// A changed value is nearer than a missing one, and two texts are the nearer the more of their ends they share.
function costOf({ recorded, got }: Sides): number {
  if (typeof recorded === 'number' && typeof got === 'number') return 0.5
  if (typeof recorded !== 'string' || typeof got !== 'string') return 1
  const longest = Math.max(recorded.length, got.length)
  return 1 - (0.9 * sharedEnds(recorded, got)) / longest
}
