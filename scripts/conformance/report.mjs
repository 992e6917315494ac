// The columns, as they are printed.
import { total } from './compare.mjs'

const WIDTH = 48
const COLUMNS = ['direct', 'reverse', 'forward', 'served']

export function printRows(title, rows, names = {}) {
  const nameOf = (column) => names[column] ?? column
  const columns = COLUMNS.filter((column) => rows.some((row) => row[column] !== undefined))
  console.log(`\n${title}\n${line('scenario', columns.map(nameOf), '')}`)
  for (const row of rows) {
    console.log(
      line(
        row.scenario,
        columns.map((column) => cell(row[column])),
        row.verdict,
      ),
    )
    if (row.verdict === 'same') continue
    for (const { way, check, direct, recorded } of row.differences)
      console.log(`    ${check}: ${direct} (${nameOf('direct')}), ${recorded} (${nameOf(way)})`)
  }
  const totals = columns.map((column) => cell(total(rows.map((row) => row[column]))))
  console.log(line('total (passed / failed)', totals, ''))
}

export function printVerdicts(rows, troubles) {
  const count = (wanted) => rows.filter(({ verdict }) => verdict === wanted).length
  console.log('')
  for (const trouble of troubles) console.log(`TROUBLE: ${trouble}`)
  const [same, different] = [count('same'), count('DIFFERENT')]
  const apart = `${count('guarded')} guarded by the recorder itself, ${count('unsteady')} unsteady`
  console.log(`${same} scenarios the same, ${different} different, ${apart}; ${troubles.length} troubles`)
}

function cell(counts) {
  return counts === undefined ? '-' : `${counts.passed} / ${counts.failed}`
}

function line(scenario, cells, verdict) {
  return `  ${scenario.padEnd(WIDTH)} ${cells.map((each) => each.padStart(9)).join(' ')}  ${verdict}`.trimEnd()
}
