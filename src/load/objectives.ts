import { ReelayError } from '../errors.ts'
import { parseDuration } from '../text.ts'
import type { CallStatistics, LoadTotals } from './measurements.ts'

/** A limit that a run has to keep, such as `p99<300ms`. */
export interface Objective {
  /** As the user wrote it. */
  readonly text: string
  /** The tool or method that is measured; all of them by default. */
  readonly label?: string
  readonly measure: (statistics: CallStatistics, seconds: number) => number
  readonly unit: 'ms' | '%' | '/s'
  readonly isMet: (value: number) => boolean
}

/** An objective and what was measured. */
export interface ObjectiveResult {
  readonly objective: string
  readonly actual: number
  readonly unit: Objective['unit']
  readonly isMet: boolean
}

/**
 * Reads objectives separated by commas: `p99<300ms,error<0.1%,rate>=49`. Percentiles, `mean` and `max` are of the response time;
 * `service.p99` is of the service time; `search:p99<1s` is of one tool.
 */
export function parseObjectives(text: string): readonly Objective[] {
  return text.split(',').map((each) => parseObjective(each.trim()))
}

const OBJECTIVE =
  /^(?:(?<label>.+):)?(?:(?<kind>service|response|lag)\.)?(?<name>p\d{1,2}(?:\.\d+)?|mean|max|error|rate)\s*(?<sign><=|>=|<|>)\s*(?<limit>\d+(?:\.\d+)?)\s*(?<unit>ms|s|m|%|\/s)?$/

function parseObjective(text: string): Objective {
  const { label, kind, name = '', sign = '', limit = '', unit = '' } = OBJECTIVE.exec(text)?.groups ?? {}
  const value = limitOf(name, limit, unit)
  if (value === undefined || (kind !== undefined && !isDuration(name))) throw objectiveError(text)
  return {
    text,
    ...(label !== undefined && { label }),
    measure: measureOf(name, kind === 'service' || kind === 'lag' ? kind : 'response'),
    unit: name === 'error' ? '%' : name === 'rate' ? '/s' : 'ms',
    isMet: (actual) => COMPARISONS[sign]?.(actual, value) === true,
  }
}

const COMPARISONS: Readonly<Record<string, (actual: number, limit: number) => boolean>> = {
  '<': (actual, limit) => actual < limit,
  '<=': (actual, limit) => actual <= limit,
  '>': (actual, limit) => actual > limit,
  '>=': (actual, limit) => actual >= limit,
}

function isDuration(name: string): boolean {
  return name !== 'error' && name !== 'rate' && name !== ''
}

/** Returns `undefined` if the unit does not belong to what is measured. */
function limitOf(name: string, limit: string, unit: string): number | undefined {
  if (name === '') return undefined
  if (name === 'error') return unit === '%' ? Number(limit) : undefined
  if (name === 'rate') return unit === '' || unit === '/s' ? Number(limit) : undefined
  return unit === '%' || unit === '/s' ? undefined : parseDuration(`${limit}${unit}`)
}

function measureOf(name: string, kind: 'service' | 'response' | 'lag'): Objective['measure'] {
  if (name === 'error') return ({ failed, calls }) => (calls === 0 ? 0 : (100 * failed) / calls)
  if (name === 'rate') return ({ calls }, seconds) => (seconds === 0 ? 0 : calls / seconds)
  if (name === 'mean' || name === 'max') return (statistics) => statistics[kind][name]
  return (statistics) => statistics[kind].percentile(Number(name.slice(1)) / 100)
}

function objectiveError(text: string): ReelayError {
  return new ReelayError('USAGE', `invalid objective ${JSON.stringify(text)} in --slo`, {
    hint: "write e.g. --slo 'p99<300ms,error<0.1%,rate>=49', or search:p99<1s for one tool",
  })
}

/** Compares a run with its objectives. An objective for a tool that was never called is not met. */
export function judgeObjectives(
  objectives: readonly Objective[],
  totals: LoadTotals,
  seconds: number,
): readonly ObjectiveResult[] {
  const all = totals.all()
  return objectives.map(({ text, label, measure, unit, isMet }) => {
    const statistics = label === undefined ? all : totals.byLabel.get(label)
    const actual = statistics === undefined ? 0 : measure(statistics, seconds)
    const hasCalls = statistics !== undefined && statistics.calls > 0
    return { objective: text, actual, unit, isMet: hasCalls && isMet(actual) }
  })
}
