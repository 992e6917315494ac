import { equalOr, simpleComparison, type ComparisonKind } from './comparison.ts'

export const anyKind: ComparisonKind = simpleComparison(
  { name: 'any', about: 'present, with any value' },
  (recorded, got) => equalOr(recorded, got, 1),
)
