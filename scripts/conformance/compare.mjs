// Runs of the suite, check for check.

/** The ways to be recorded. */
export const WAYS = ['reverse', 'forward']

/** A client that runs OAuth compares the URL that it dialled with the one that the server names: no reverse proxy can be in between. */
const NOT_REVERSED = /^auth\//

/**
 * What the reverse proxy answers in the server's place: its listener refuses a foreign Host or Origin, so that it is no
 * hole in front of a server that trusts it. A server that lets such a request in scores better behind it, and that is meant.
 */
const GUARDED = /^localhost-host-rebinding-rejected /

/**
 * One row for each scenario of any run. `unsteady`: it differs between two runs without the recorder, and so says
 * nothing about the recorder. `guarded`: it differs only in what the recorder itself refuses.
 */
export function compareRuns({ direct, again, ...recorded }) {
  const scenarios = [
    ...new Set([direct, again, ...Object.values(recorded)].flatMap((run) => Object.keys(run))),
  ]
  return scenarios.map((scenario) => {
    const ways = Object.keys(recorded).filter((way) => way !== 'reverse' || !NOT_REVERSED.test(scenario))
    const differences = ways.flatMap((way) =>
      differencesBetween(direct[scenario], recorded[way][scenario]).map((each) => ({ way, ...each })),
    )
    const isSteady = differencesBetween(direct[scenario], again[scenario]).length === 0
    const counts = Object.fromEntries(ways.map((way) => [way, count(recorded[way][scenario])]))
    const verdict = isSteady ? verdictOn(differences) : 'unsteady'
    return { scenario, direct: count(direct[scenario]), ...counts, verdict, differences }
  })
}

/** Sums up what `compareRuns` counted. */
export function total(counts) {
  const sum = (field) => counts.reduce((so, each) => so + (each?.[field] ?? 0), 0)
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

function isGuarded({ way, check, direct, recorded }) {
  return way === 'reverse' && GUARDED.test(check) && direct === 'FAILURE' && recorded === 'SUCCESS'
}

function count(checks = {}) {
  const statuses = Object.values(checks).flatMap((each) => each.split(' '))
  const of = (wanted) => statuses.filter((status) => status === wanted).length
  return { passed: of('SUCCESS'), failed: of('FAILURE') }
}
