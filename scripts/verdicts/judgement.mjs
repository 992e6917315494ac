// Whether a run of `reelay verify` has found a seeded change, and whether its report names the place.
import { placeOf, tokensOf } from './change.mjs'

/** `isFound`: exit code 1 and an error at the changed exchange that the unchanged server (`control`) does not have. `isNamed`: that error also names the place and the value. */
export function judge({ scene, change, era, code, report, control }) {
  if (report === undefined) return { isFound: false, isNamed: false, why: `no report, exit code ${code}` }
  const expected = expectationOf(scene, change, era)
  const usual = new Set(control === undefined ? [] : errorsOf(control, expected.step).map(placeOfFinding))
  const errors = errorsOf(report, expected.step).filter((finding) => !usual.has(placeOfFinding(finding)))
  const isFound = code === 1 && errors.length > 0
  const isNamed = isFound && errors.some((finding) => isNamedBy(finding, expected))
  return { isFound, isNamed, why: isNamed ? '' : explain(code, report, errors) }
}

/** Errors in a report of a server that has not changed, by the exchange at which they are. */
export function falseAlarmsIn({ code, report, stderr }) {
  if (report === undefined) return [{ step: 'no report', text: `exit code ${code}: ${stderr.slice(0, 300)}` }]
  const alarms = report.steps.flatMap((step) =>
    stepErrors(step).map((finding) => ({ step: step.recordedId ?? step.method, text: shortly(finding) })),
  )
  if (alarms.length === 0 && code !== 0)
    alarms.push({ step: 'verdict', text: `exit code ${code}, ${explain(code, report, [])}` })
  return alarms
}

/** Where a finding has to point, and what it has to mention. */
function expectationOf(scene, change, era) {
  const step = change.step ?? scene.step ?? scene.name
  const place = placeOf(change)
  const path = change.path ?? scene.path ?? [scene.root, place].filter((part) => part !== '').join('.')
  return {
    step: typeof step === 'string' ? step : step[era],
    path: path.replaceAll('.[', '['),
    tokens: tokensOf(scene.document, change).filter((token) => token !== ''),
  }
}

/** A request of several rounds is one exchange; messages that belong to no request can be reported anywhere. */
function errorsOf(report, label) {
  if (label === 'anywhere') return findingsIn(report).filter(({ level }) => level === 'error')
  return report.steps
    .filter(({ recordedId }) => recordedId === label || String(recordedId).startsWith(`${label}~`))
    .flatMap(stepErrors)
}

function stepErrors({ findings, state, why }) {
  const errors = findings.filter(({ level }) => level === 'error')
  if (errors.length > 0 || ['done', 'skipped'].includes(state)) return errors
  return [{ level: 'error', layer: 'transport', message: `${state}: ${why ?? ''}` }]
}

function findingsIn(value) {
  if (value === null || typeof value !== 'object') return []
  if (!Array.isArray(value) && typeof value.layer === 'string' && typeof value.level === 'string')
    return [value]
  return Object.values(value).flatMap(findingsIn)
}

function placeOfFinding({ layer, path = '' }) {
  return `${layer} ${path}`
}

function isNamedBy(finding, { path, tokens }) {
  if (!(finding.path ?? '').startsWith(path) && path !== '') return false
  if (tokens.length === 0) return true
  const text = JSON.stringify(finding)
  return tokens.some((token) => text.includes(JSON.stringify(token).slice(1, -1)))
}

function explain(code, report, errors) {
  const seen = errors.map(shortly)
  const elsewhere = findingsIn(report.steps).map(shortly)
  const text =
    seen.length > 0
      ? seen.join(' | ')
      : elsewhere.length > 0
        ? `elsewhere: ${elsewhere.join(' | ')}`
        : 'nothing'
  return `exit ${code}, ${report.summary.verdict}: ${text}`.slice(0, 400)
}

function shortly({ layer, level, path, message }) {
  return `${layer}${level === 'error' ? '' : ` (${level})`} ${path ?? ''} ${message}`
    .replaceAll(/\s+/g, ' ')
    .slice(0, 160)
}
