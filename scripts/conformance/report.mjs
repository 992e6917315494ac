// The two columns, as they are printed.
import { total } from './compare.mjs'

const WIDTH = 48

export function printRows(title, rows, columns = { direct: 'direct', recorded: 'recorded' }) {
  console.log(`\n${title}\n${line('scenario', columns.direct, columns.recorded, '')}`)
  for (const { scenario, direct, recorded, verdict, differences } of rows) {
    console.log(line(scenario, cell(direct), cell(recorded), verdict))
    if (verdict === 'same') continue
    for (const { check, ...sides } of differences)
      console.log(
        `    ${check}: ${sides.direct} (${columns.direct}), ${sides.recorded} (${columns.recorded})`,
      )
  }
  const [direct, recorded] = ['direct', 'recorded'].map((side) => total(rows.map((row) => row[side])))
  console.log(line('total (passed / failed)', cell(direct), cell(recorded), ''))
}

export function printVerdicts(rows, troubles) {
  const count = (wanted) => rows.filter(({ verdict }) => verdict === wanted).length
  console.log('')
  for (const trouble of troubles) console.log(`TROUBLE: ${trouble}`)
  const [same, different] = [count('same'), count('DIFFERENT')]
  const apart = `${count('guarded')} guarded by the recorder itself, ${count('unsteady')} unsteady`
  console.log(`${same} scenarios the same, ${different} different, ${apart}; ${troubles.length} troubles`)
}

function cell({ passed, failed }) {
  return `${passed} / ${failed}`
}

function line(scenario, direct, recorded, verdict) {
  return `  ${scenario.padEnd(WIDTH)} ${direct.padStart(9)} ${recorded.padStart(9)}  ${verdict}`.trimEnd()
}
