import { EVERY_ITEM, type PathPattern } from '../json/path.ts'
import { ValueComparison, StructureComparison } from './compare.ts'
import type { Difference } from './difference.ts'
import { parseExactJson } from '../json/exact-number.ts'
import { DiffRuleNode, type DiffRule } from './rules.ts'

export interface DiffOptions {
  /**
   * `exact` (default): every value counts. `structural`: types and names of members only. `partial`: what is expected must be
   * there, more may be; with `required`, only these places count.
   */
  readonly mode?: 'exact' | 'structural' | 'partial'
  /** Places that are not compared. */
  readonly ignore?: readonly PathPattern[]
  /** In mode `partial`: the places that count. */
  readonly required?: readonly PathPattern[]
  /** Whether a moved item of a list is a difference; `free` unless said. */
  readonly order?: 'kept' | 'free'
  /** Lists in which the order counts, or does not, whatever holds elsewhere. */
  readonly ordered?: readonly PathPattern[]
  readonly unordered?: readonly PathPattern[]
  /** How far numbers may be apart, as a share of the larger one. */
  readonly tolerance?: number
  /** The same for single places. */
  readonly tolerances?: readonly { readonly path: PathPattern; readonly relative: number }[]
}

/** Compares texts and values under options that were read once. */
export interface Differ {
  /** What differs between two JSON texts; texts that are no JSON are compared as texts. */
  readonly texts: (expected: string, actual: string) => readonly Difference[]
  readonly values: (expected: unknown, actual: unknown) => readonly Difference[]
}

export function createDiffer(options: DiffOptions = {}): Differ {
  const { mode = 'exact', required = [], order = 'free', tolerance = 0 } = options
  const rules = DiffRuleNode.compile(diffRulesOf(options))
  const values = (expected: unknown, actual: unknown): readonly Difference[] => {
    const comparison =
      mode === 'structural' ? new StructureComparison() : new ValueComparison({ relative: tolerance, order })
    comparison.compare(expected, actual, rules)
    return mode === 'partial' ? partialDifferences(comparison.differences, required) : comparison.differences
  }
  return {
    values,
    texts: (expected, actual) =>
      expected === actual
        ? []
        : values(parseExactJson(expected) ?? expected, parseExactJson(actual) ?? actual),
  }
}

/** What differs between two JSON texts. Equal bytes are never parsed. */
export function diffJson(expected: string, actual: string, options?: DiffOptions): readonly Difference[] {
  return expected === actual ? [] : createDiffer(options).texts(expected, actual)
}

function diffRulesOf({
  ignore = [],
  ordered = [],
  unordered = [],
  tolerances = [],
}: DiffOptions): readonly DiffRule[] {
  return [
    ...ignore.map((path): DiffRule => ({ path, effect: { kind: 'ignore' } })),
    ...ordered.map((path): DiffRule => ({ path, effect: { kind: 'order', order: 'kept' } })),
    ...unordered.map((path): DiffRule => ({ path, effect: { kind: 'order', order: 'free' } })),
    ...tolerances.map(({ path, relative }): DiffRule => ({ path, effect: { kind: 'tolerance', relative } })),
  ]
}

function partialDifferences(
  differences: readonly Difference[],
  required: readonly PathPattern[],
): readonly Difference[] {
  if (required.length === 0) return differences.filter(({ kind }) => kind !== 'added')
  return differences.filter(({ path }) => required.some((place) => pathsOverlap(place, path)))
}

/** Whether one of two paths lies on the way to the other. */
function pathsOverlap(pattern: PathPattern, path: PathPattern): boolean {
  const shared = Math.min(pattern.length, path.length)
  return pattern
    .slice(0, shared)
    .every((segment, at) => segment === path[at] || (segment === EVERY_ITEM && typeof path[at] === 'number'))
}
