import { didNotSurvive, type Survival, type SurvivalCell, type SurvivalMatrix } from '../chaos/survival.ts'
import { escapeControlChars } from '../text.ts'
import { alignRows } from './table.ts'

/** Renders the survival matrix: a row for each fault, a column for each call. */
export function survivalAsText({ faults, calls, cells, notes }: SurvivalMatrix): string {
  const legend = calls.map(
    ({ method, tool, nth }, place) =>
      `  ${place + 1}  ${tool ?? method}${nth === 1 ? '' : ` (number ${nth})`}`,
  )
  const header = [{ text: 'fault' }, ...calls.map((_, place) => ({ text: String(place + 1) }))]
  const rows = faults.flatMap((fault, row) => {
    const own = cells.filter((cell) => cell.fault === row)
    if (own.length === 0) return []
    const columns = calls.map((_, column) => ({
      text: markOf(own.find((cell) => cell.call === column)),
    }))
    return [[{ text: fault }, ...columns]]
  })
  const failures = cells.filter(({ survival }) => didNotSurvive(survival))
  return [
    'calls:',
    ...legend,
    '',
    ...alignRows([header, ...rows]),
    '',
    ...failures.map(
      ({ fault, call, survival, why, tape }) =>
        `${survival} ${faults[fault]} at call ${call + 1}: ${why}${tape === undefined ? '' : ` (${tape})`}`,
    ),
    ...notes.map((note) => `note: ${note}`),
    countLine(cells),
  ]
    .map((line) => `${escapeControlChars(line)}\n`)
    .join('')
}

export function survivalAsJson({ faults, calls, cells, transport, notes }: SurvivalMatrix): string {
  const named = cells.map(({ fault, call, ...rest }) => ({ fault: faults[fault], call: call + 1, ...rest }))
  return `${JSON.stringify({ transport, calls, cells: named, notes }, null, 2)}\n`
}

function markOf(cell: SurvivalCell | undefined): string {
  if (cell === undefined) return '·'
  return cell.survival ?? 'not reached'
}

const ORDER: readonly Survival[] = ['recovered', 'degraded', 'wrong', 'hung', 'crashed', 'leaked']

function countLine(cells: readonly SurvivalCell[]): string {
  const counts = ORDER.map((name) => {
    const count = cells.filter(({ survival }) => survival === name).length
    return count === 0 ? [] : [`${count} ${name}`]
  }).flat()
  return `${cells.length} runs: ${counts.join(', ') || 'none was judged'}`
}
