import { equalOr } from './equal.ts'
import { plainKind, type ComparisonKind } from './comparison.ts'

export const anyKind: ComparisonKind = plainKind(
  { name: 'any', about: 'present, with any value' },
  (recorded, got) => equalOr(recorded, got, 1),
)
