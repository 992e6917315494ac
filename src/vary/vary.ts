import { ReelayError } from '../errors.ts'
import { seededRandom } from '../seeded-random.ts'
import { type FailingSession, readFailingSession } from '../shrink/failing-session.ts'
import { withRequirements } from '../shrink/reduce-set.ts'
import type { Tape } from '../store/file/read.ts'
import { type ProbedServer, probeHttpServer } from './http-probes.ts'
import { pickOperator, VARY_OPERATORS, type VaryContext } from './operators.ts'
import { openProbes } from './probes.ts'
import { SessionRunner, type RunnerOptions, type VariedFailure } from './session-runner.ts'
import type { VariedStep } from './varied-session.ts'

/** The failures that variations look for. Each is also a condition of `reelay shrink --fails`. */
const VARY_ORACLES = ['crash', 'hang', 'leak', 'internal-error', 'schema', 'protocol'] as const

const PROBE_ORACLES = ['traversal', 'injection'] as const

export interface VaryOptions extends RunnerOptions {
  readonly tape: Tape
  readonly server?: string | undefined
  readonly bindings?: string | undefined
  readonly seed: number
  /** How many variations are run at most. */
  readonly maxRuns: number
  /** How many calls are sent at most. */
  readonly maxCalls: number
  /** Milliseconds that variations are tried for, without the time to shrink failures. */
  readonly maxMs: number
  /** How many failures are looked for. */
  readonly maxFailures: number
  /** Also tries what an attacker would try. Over HTTP, this server is asked. */
  readonly probes?: { readonly server: ProbedServer | undefined } | undefined
}

export interface VaryResult {
  readonly seed: number
  readonly runs: number
  readonly calls: number
  /** Milliseconds. */
  readonly duration: number
  readonly failures: readonly VariedFailure[]
  /** How many calls of each method and tool were sent. */
  readonly sent: ReadonlyMap<string, number>
  /** Tools whose calls were not sent, because they may write and were not allowed. */
  readonly held: readonly string[]
  readonly stopped: 'runs' | 'calls' | 'time' | 'failures' | 'interrupted'
}

/** Runs variations of a recorded session against a server, and shrinks those that fail. */
export async function varyTape(options: VaryOptions): Promise<VaryResult> {
  const { maxRuns, maxCalls, maxMs, maxFailures, seed, signal } = options
  const session = await readFailingSession(options.tape, options)
  const runner = new SessionRunner(session, options)
  const probes = options.probes && (await openProbes(options.keep))
  const oracles = probes === undefined ? VARY_ORACLES : [...PROBE_ORACLES, ...VARY_ORACLES]
  try {
    const items = await runAsRecorded(session, runner)
    if (options.probes?.server !== undefined)
      for (const weakness of await probeHttpServer(options.probes.server)) runner.add(weakness)
    let stopped: VaryResult['stopped'] = 'runs'
    for (let run = 1; run <= maxRuns; run++) {
      if (signal.aborted) stopped = 'interrupted'
      else if (runner.failures.length >= maxFailures) stopped = 'failures'
      else if (runner.calls >= maxCalls) stopped = 'calls'
      else if (runner.elapsed > maxMs) stopped = 'time'
      if (stopped !== 'runs') break
      const varied = variation({ session, random: seededRandom(seed * 7919 + run), probes }, items, run)
      await runner.tryOut({ ...varied, run, oracles })
      for (const failure of probes?.taken() ?? []) runner.add(failure, { run, variation: varied.variation })
    }
    return resultOf(runner, { seed, stopped })
  } finally {
    probes?.close()
    runner.close()
  }
}

export function resultOf(runner: SessionRunner, how: Pick<VaryResult, 'seed' | 'stopped'>): VaryResult {
  const { runs, calls, elapsed: duration, failures, sent, held } = runner
  return { ...how, runs, calls, duration, failures, sent, held: [...held].toSorted() }
}

/** Shows which messages can be sent, and which failures the session has without being varied. */
async function runAsRecorded(session: FailingSession, runner: SessionRunner): Promise<readonly number[]> {
  const unsent = new Set<number>()
  await runner.tryOut({
    steps: session.items.map((item) => stepAsRecorded(item, session)),
    variation: [],
    run: 0,
    oracles: VARY_ORACLES,
    onStep: (item, { state }) => {
      if (state === 'held' || state === 'unbound' || state === 'skipped') unsent.add(item)
    },
  })
  const items = session.items.filter((item) => !unsent.has(item))
  if (items.length > 0) return items
  throw nothingToSend(runner.held)
}

export function nothingToSend(held: ReadonlySet<string>): ReelayError {
  const names = [...held].join()
  return new ReelayError('USAGE', 'no message of the session can be sent', {
    hint:
      names === ''
        ? 'the tape has no requests besides the handshake'
        : `calls of ${names} may write; to send them: --allow ${names} or --allow-writes, with a server that may lose its data`,
  })
}

/** A request that overlapped the one before it on the tape overlaps it again. */
function stepAsRecorded(item: number, { part, items }: FailingSession): VariedStep {
  const before = items[items.indexOf(item) - 1]
  const [own, other] = [part.turns.at(item), before === undefined ? undefined : part.turns.at(before)]
  const end = other?.response?.n
  const isTogether = end !== undefined && own?.trigger !== undefined && own.trigger.n < end
  return { item, ...(isTogether && { isTogether }) }
}

/** The first variations use one operator each, later ones all of them. The same seed makes the same variations. */
function variation(
  context: VaryContext,
  items: readonly number[],
  run: number,
): { readonly steps: readonly VariedStep[]; readonly variation: readonly string[] } {
  const { random, session, probes } = context
  let steps = excerpt(items, session, random)
  const what: string[] = []
  const isFirst = probes === undefined && run <= VARY_OPERATORS.length
  const many = Math.ceil(steps.length / STEPS_PER_CHANGE)
  const most = isFirst ? Math.ceil(many / 2) : 1 + Math.floor(random() * many)
  for (let tries = 0; what.length < most && tries < 4 * most; tries++) {
    const operator = isFirst ? VARY_OPERATORS[run - 1] : pickOperator(context)
    const varied = operator?.vary(steps, context)
    if (varied === undefined) continue
    steps = varied.steps
    what.push(varied.what)
  }
  return { steps, variation: what }
}

/** Shrinking leaves the changes that a failure needs, so many are made at once. */
const STEPS_PER_CHANGE = 3

/** The session, or a part of a long one that is complete in what its calls need. */
function excerpt(
  items: readonly number[],
  session: FailingSession,
  random: () => number,
): readonly VariedStep[] {
  const chosen = new Set(items.length <= LONGEST_EXCERPT ? items : [])
  while (chosen.size < Math.min(items.length, LONGEST_EXCERPT / 2))
    for (const item of withRequirements(items[Math.floor(random() * items.length)] ?? 0, session.needs))
      chosen.add(item)
  return items.filter((item) => chosen.has(item)).map((item) => stepAsRecorded(item, session))
}

const LONGEST_EXCERPT = 40
