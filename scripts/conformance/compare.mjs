// Two runs of the suite, check for check.

/**
 * What the recorder answers in the server's place: its listener refuses a foreign Host or Origin, so that it is no hole
 * in front of a server that trusts it. A server that lets such a request in scores better behind it, and that is meant.
 */
const GUARDED = /^localhost-host-rebinding-rejected /

/**
 * One row for each scenario of any run. `unsteady`: it differs between two runs without the recorder, and so says
 * nothing about the recorder. `guarded`: it differs only in what the recorder itself refuses.
 */
export function compareRuns({ direct, again, recorded }) {
  const scenarios = [...new Set([direct, again, recorded].flatMap((run) => Object.keys(run)))]
  return scenarios.map((scenario) => {
    const [before, twice, after] = [direct, again, recorded].map((run) => run[scenario])
    const differences = differencesBetween(before, after)
    const verdict = differencesBetween(before, twice).length > 0 ? 'unsteady' : verdictOn(differences)
    return { scenario, direct: count(before), recorded: count(after), verdict, differences }
  })
}

/** Sums up what `compareRuns` counted. */
export function total(counts) {
  const sum = (field) => counts.reduce((so, each) => so + each[field], 0)
  return { passed: sum('passed'), failed: sum('failed') }
}

/** A check that is missing on one side is a difference too. */
function differencesBetween(before = {}, after = {}) {
  const checks = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return checks
    .filter((check) => before[check] !== after[check])
    .map((check) => ({ check, direct: before[check] ?? 'missing', recorded: after[check] ?? 'missing' }))
}

function verdictOn(differences) {
  if (differences.length === 0) return 'same'
  return differences.every(isGuarded) ? 'guarded' : 'DIFFERENT'
}

function isGuarded({ check, direct, recorded }) {
  return GUARDED.test(check) && direct === 'FAILURE' && recorded === 'SUCCESS'
}

function count(checks = {}) {
  const statuses = Object.values(checks).flatMap((each) => each.split(' '))
  const of = (wanted) => statuses.filter((status) => status === wanted).length
  return { passed: of('SUCCESS'), failed: of('FAILURE') }
}
