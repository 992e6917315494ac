/** Two places that hold the same. */
interface CommonItem {
  readonly expected: number
  readonly actual: number
}

// Lists that have more changes than this have nothing to do with each other.
const MOST_CHANGES = 1000

/** The longest run of common items, in order (Myers 1986); what lists that share too little have in common is not looked for. */
export function longestCommonSubsequence(
  expected: readonly string[],
  actual: readonly string[],
): readonly CommonItem[] {
  const [rows, columns] = [expected.length, actual.length]
  const limit = Math.min(rows + columns, MOST_CHANGES)
  const furthest = new Int32Array(2 * limit + 3)
  const trace: Int32Array[] = []
  for (let changes = 0; changes <= limit; changes++) {
    trace.push(furthest.slice())
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      let row = diagonalStart(furthest, diagonal, changes, limit)
      while (row < rows && row - diagonal < columns && expected[row] === actual[row - diagonal]) row++
      furthest[diagonal + limit + 1] = row
      if (row >= rows && row - diagonal >= columns) return traceBack({ trace, limit, rows, columns })
    }
  }
  return []
}

/** Where a path that made so many changes enters a diagonal: from the one above or the one below, whichever got further. */
function diagonalStart(furthest: Int32Array, diagonal: number, changes: number, limit: number): number {
  const below = furthest[diagonal + limit] ?? 0
  const above = furthest[diagonal + limit + 2] ?? 0
  const comesDown = diagonal === -changes || (diagonal !== changes && below < above)
  return comesDown ? above : below + 1
}

interface SubsequenceTrace {
  readonly trace: readonly Int32Array[]
  readonly limit: number
  readonly rows: number
  readonly columns: number
}

function traceBack({ trace, limit, rows, columns }: SubsequenceTrace): readonly CommonItem[] {
  const common: CommonItem[] = []
  let [row, column] = [rows, columns]
  for (let changes = trace.length - 1; changes >= 0; changes--) {
    const furthest = trace[changes] ?? new Int32Array()
    const diagonal = row - column
    const below = furthest[diagonal + limit] ?? 0
    const above = furthest[diagonal + limit + 2] ?? 0
    const comesDown = diagonal === -changes || (diagonal !== changes && below < above)
    const start = changes === 0 ? 0 : comesDown ? above : below + 1
    while (row > start && column > start - diagonal) common.push({ expected: --row, actual: --column })
    if (comesDown) column--
    else row--
  }
  return common.toReversed()
}

/** One line of two texts laid side by side. */
interface LineChange {
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
