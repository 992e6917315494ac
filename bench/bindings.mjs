// How many of the values that a client carried over are found from the tape alone, and how many are found that it did not.
import { judgeTape, NAMES, score } from './bindings/judge.mjs'
import { goal } from './measure.mjs'

export async function bindings() {
  console.log('\nbindings, judged by sessions whose client says what it carried over')
  const all = []
  for (const name of NAMES) {
    const rows = await judgeTape(name)
    all.push(...rows)
    const { values, wanted, made, right } = score(rows)
    console.log(
      `  ${name.padEnd(12)} ${values} values sent, ${wanted} carried over, ${made} bound, ${right} of them right`,
    )
    for (const row of rows.filter(isWrong))
      console.log(`    ${faultOf(row)} request ${row.request} ${row.path} ${row.value}`)
  }
  const { precision, recall } = score(all)
  return [
    goal('precision of bindings', precision, 0.98, 'at least'),
    goal('recall of bindings', recall, 0.95, 'at least'),
  ]
}

function isWrong({ shouldBe, is, holds }) {
  return shouldBe !== is || !holds
}

function faultOf({ shouldBe, is }) {
  if (shouldBe && !is) return 'missed'
  return is && !shouldBe ? 'made up' : 'wrong value'
}
