import { canonicalJson } from '../json/canonical.ts'
import { isObject, type JsonObject } from '../json/parse.ts'
import type { PathPattern, PathSegment } from '../json/path.ts'
import { commonAffixLength } from '../text.ts'

/** A field that differs. If one side does not have the field, its property is not set. */
export interface FieldDifference {
  readonly path: PathPattern
  readonly recorded?: unknown
  readonly got?: unknown
}

export interface FieldDiff {
  /** 0 for equal values, 1 if all fields differ completely. */
  readonly distance: number
  readonly fields: number
  readonly differences: readonly FieldDifference[]
  readonly equal: readonly PathPattern[]
}

/** Decides whether two values of a field match. Returns `undefined` for fields that must be equal. */
export type FieldEquality = (path: PathPattern, recorded: unknown, got: unknown) => boolean | undefined

/** Compares two values field by field. Paths begin with `root`. */
export function diffFields(
  recorded: unknown,
  got: unknown,
  root: PathPattern,
  equality?: FieldEquality,
): FieldDiff {
  const tally: Tally = { cost: 0, differences: [], equal: [], equality }
  compareFields({ recorded, got }, root, tally)
  const fields = tally.differences.length + tally.equal.length
  return { distance: tally.cost / fields, fields, differences: tally.differences, equal: tally.equal }
}

interface Tally {
  cost: number
  readonly differences: FieldDifference[]
  readonly equal: PathPattern[]
  readonly equality: FieldEquality | undefined
}

interface FieldSides {
  readonly recorded?: unknown
  readonly got?: unknown
}

// Deeper values are compared as a whole, so that a hostile request cannot exhaust the stack.
const DEEPEST = 60

function compareFields(sides: FieldSides, path: PathPattern, tally: Tally): void {
  const isEqual = equalityByRule(sides, path, tally)
  if (isEqual === true) return void tally.equal.push(path)
  const inside = path.length < DEEPEST ? childSides(sides) : []
  if (inside.length > 0)
    return inside.forEach(([segment, next]) => compareFields(next, [...path, segment], tally))
  if (isEqual === undefined && areEqualFields(sides)) return void tally.equal.push(path)
  tally.differences.push({ path, ...sides })
  tally.cost += differenceCost(sides)
}

function equalityByRule(sides: FieldSides, path: PathPattern, { equality }: Tally): boolean | undefined {
  if (equality === undefined || !('recorded' in sides && 'got' in sides)) return undefined
  return equality(path, sides.recorded, sides.got)
}

function childSides({ recorded, got }: FieldSides): readonly (readonly [PathSegment, FieldSides])[] {
  if (Array.isArray(recorded) && Array.isArray(got)) return itemSides(recorded, got)
  return isObject(recorded) && isObject(got) ? memberSides(recorded, got) : []
}

function itemSides(recorded: readonly unknown[], got: readonly unknown[]): [PathSegment, FieldSides][] {
  return Array.from({ length: Math.max(recorded.length, got.length) }, (_, place) => [
    place,
    {
      ...(place < recorded.length && { recorded: recorded[place] }),
      ...(place < got.length && { got: got[place] }),
    },
  ])
}

function memberSides(recorded: JsonObject, got: JsonObject): [PathSegment, FieldSides][] {
  const names = new Set([...Object.keys(recorded), ...Object.keys(got)])
  return [...names].map((name) => [
    name,
    {
      ...(Object.hasOwn(recorded, name) && { recorded: recorded[name] }),
      ...(Object.hasOwn(got, name) && { got: got[name] }),
    },
  ])
}

function areEqualFields(sides: FieldSides): boolean {
  if (Object.hasOwn(sides, 'recorded') !== Object.hasOwn(sides, 'got')) return false
  return canonicalJson(sides.recorded) === canonicalJson(sides.got)
}

// A changed value costs less than a missing one. The more two texts share at their ends, the less they cost.
function differenceCost({ recorded, got }: FieldSides): number {
  if (typeof recorded === 'number' && typeof got === 'number') return 0.5
  if (typeof recorded !== 'string' || typeof got !== 'string') return 1
  const longest = Math.max(recorded.length, got.length)
  return 1 - (0.9 * commonAffixLength(recorded, got)) / longest
}
