import { EVERY_ITEM, type PathPattern } from '../json/path.ts'
import type { ListOrder } from './align.ts'
import { ValueComparison, StructureComparison } from './compare.ts'
import type { Difference } from './difference.ts'
import { parseExactJson } from '../json/exact-number.ts'
import { DiffRuleNode, type DiffRule } from './rules.ts'

export interface DiffOptions {
  /**
   * `exact` (default): compares all values. `structural`: compares only types and names of members. `partial`: allows
   * additional members and items, or compares only the `required` paths.
   */
  readonly mode?: 'exact' | 'structural' | 'partial'
  /** Paths that are not compared. */
  readonly ignore?: readonly PathPattern[]
  /** The paths that are compared in mode `partial`. */
  readonly required?: readonly PathPattern[]
  /** How the order of items in lists counts. Default: `free`. */
  readonly order?: ListOrder
  /** Lists for which `order` is overridden. */
  readonly ordered?: readonly PathPattern[]
  readonly unordered?: readonly PathPattern[]
  /** The allowed difference between numbers, relative to the larger one. */
  readonly tolerance?: number
  /** The allowed difference at single paths. */
  readonly tolerances?: readonly { readonly path: PathPattern; readonly relative: number }[]
}

/** Compares texts and values with options that are prepared once. */
export interface Differ {
  /** Compares two JSON texts. Texts that are not JSON are compared as strings. */
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

/** Compares two JSON texts. Equal texts are not parsed. */
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
  return differences.filter(({ path }) => required.some((pattern) => pathsOverlap(pattern, path)))
}

/** Returns true if one of the paths is a prefix of the other. */
function pathsOverlap(pattern: PathPattern, path: PathPattern): boolean {
  const shared = Math.min(pattern.length, path.length)
  return pattern
    .slice(0, shared)
    .every((segment, at) => segment === path[at] || (segment === EVERY_ITEM && typeof path[at] === 'number'))
}
