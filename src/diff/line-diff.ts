import { longestCommonSubsequence } from './sequence-diff.ts'

/** One line of two texts laid side by side. */
export interface LineChange {
  readonly kind: 'kept' | 'removed' | 'added'
  readonly line: string
}

/** What differs between two texts, line by line: what is gone comes before what is new. */
export function diffLines(expected: string, actual: string): readonly LineChange[] {
  const [before, after] = [expected.split('\n'), actual.split('\n')]
  const changes: LineChange[] = []
  let [row, column] = [0, 0]
  const advance = (toRow: number, toColumn: number): void => {
    while (row < toRow) changes.push({ kind: 'removed', line: before[row++] ?? '' })
    while (column < toColumn) changes.push({ kind: 'added', line: after[column++] ?? '' })
  }
  for (const common of longestCommonSubsequence(before, after)) {
    advance(common.expected, common.actual)
    changes.push({ kind: 'kept', line: before[row] ?? '' })
    row++
    column++
  }
  advance(before.length, after.length)
  return changes
}
