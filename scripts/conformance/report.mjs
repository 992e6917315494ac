// The three columns, as they are printed.
import { total, WAYS } from './compare.mjs'

const WIDTH = 48
const COLUMNS = ['direct', ...WAYS]

export function printRows(title, rows) {
  console.log(`\n${title}\n${line('scenario', COLUMNS, '')}`)
  for (const row of rows) {
    console.log(
      line(
        row.scenario,
        COLUMNS.map((column) => cell(row[column])),
        row.verdict,
      ),
    )
    if (row.verdict === 'same') continue
    for (const { way, check, direct, recorded } of row.differences)
      console.log(`    ${check}: ${direct} directly, ${recorded} recorded (${way} proxy)`)
  }
  const totals = COLUMNS.map((column) => cell(total(rows.map((row) => row[column]))))
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
