import { simpleComparison, type ComparisonKind } from './comparison.ts'

const plain = simpleComparison({ name: 'ignore', about: 'not compared; it may be missing' }, () => 0)

export const ignoreKind: ComparisonKind = {
  ...plain,
  parse: (rest) => ({ ...plain.parse(rest), ignoresValue: true }),
}
