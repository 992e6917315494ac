import { canonicalJson } from '../../json/canonical.ts'
import { simpleComparison, type ComparisonKind, equalOr } from './comparison.ts'

export const unorderedKind: ComparisonKind = simpleComparison(
  { name: 'unordered', about: 'an array with the same items, in any order' },
  (recorded, got) => {
    const isSame = Array.isArray(recorded) && Array.isArray(got) && itemsOf(recorded) === itemsOf(got)
    return equalOr(recorded, got, isSame ? 0.5 : undefined)
  },
)

function itemsOf(items: readonly unknown[]): string {
  return items.map(canonicalJson).toSorted().join()
}
