import { equalOr, simpleComparison, type ComparisonKind } from './comparison.ts'

export const typeKind: ComparisonKind = simpleComparison(
  { name: 'type', about: 'of the same JSON type: string, number, boolean, null, array or object' },
  (recorded, got) => equalOr(recorded, got, typeOf(recorded) === typeOf(got) ? 1 : undefined),
)

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
