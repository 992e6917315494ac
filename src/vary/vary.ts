import { ReelayError } from '../errors.ts'
import { seededRandom } from '../seeded-random.ts'
import { type FailingSession, readFailingSession } from '../shrink/failing-session.ts'
import { withRequirements } from '../shrink/reduce-set.ts'
import { messagesOfTurn } from '../tape/turns.ts'
import type { Tape } from '../store/file/read.ts'
import { type ProbedServer, probeHttpServer } from './http-probes.ts'
import { pickOperator, VARY_OPERATORS, type VaryContext } from './operators.ts'
import { openProbes, type ProbeCount, sendProbes } from './probes.ts'
import { SessionRunner, type RunnerOptions, type VariedFailure } from './session-runner.ts'
import { stepAsRecorded, type VariedStep } from './varied-session.ts'

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
  /** Milliseconds, without the time that failures were shrunk for. */
  readonly duration: number
  readonly shrinkingMs: number
  readonly failures: readonly VariedFailure[]
  /** How many calls of each method and tool were sent. */
  readonly sent: ReadonlyMap<string, number>
  /** Tools whose calls were not sent, because they may write and were not allowed. */
  readonly held: readonly string[]
  readonly stopped: 'runs' | 'calls' | 'time' | 'failures' | 'interrupted'
  readonly probes?: ProbeCount
}

/** Runs variations of a recorded session against a server, and shrinks those that fail. Probes come first. */
export async function varyTape(options: VaryOptions): Promise<VaryResult> {
  const { maxRuns, maxCalls, maxMs, maxFailures, seed, signal } = options
  const session = await readFailingSession(options.tape, options)
  const runner = new SessionRunner(session, options)
  const probes =
    options.probes &&
    (await openProbes({ command: options.probe.command, messages: messagesOnTape(session.part) }))
  const oracles = probes === undefined ? VARY_ORACLES : [...PROBE_ORACLES, ...VARY_ORACLES]
  const why = (run: number): VaryResult['stopped'] | undefined => {
    if (signal.aborted) return 'interrupted'
    if (runner.failures.length >= maxFailures) return 'failures'
    if (runner.calls >= maxCalls) return 'calls'
    if (runner.elapsed > maxMs) return 'time'
    return run > maxRuns ? 'runs' : undefined
  }
  try {
    const items = await runAsRecorded(session, runner)
    if (options.probes?.server !== undefined)
      for (const weakness of await probeHttpServer(options.probes.server)) runner.add(weakness)
    const sent = probes && (await sendProbes(items, session, { runner, probes, oracles, why }))
    const first = runner.runs + 1
    let run = first
    for (; why(run) === undefined; run++) {
      const context = { session, random: seededRandom(seed * 7919 + run) }
      await runner.tryOut({ ...variation(context, items, run - first + 1), run, oracles })
      for (const failure of probes?.taken() ?? []) runner.add(failure)
    }
    return { ...resultOf(runner, { seed, stopped: why(run) ?? 'runs' }), ...(sent && { probes: sent }) }
  } finally {
    probes?.close()
    runner.close()
  }
}

function messagesOnTape({ turns }: FailingSession['part']): Iterable<string> {
  return [...turns].flatMap((turn) => messagesOfTurn(turn).map(({ text }) => text))
}

export function resultOf(runner: SessionRunner, how: Pick<VaryResult, 'seed' | 'stopped'>): VaryResult {
  const { runs, calls, elapsed: duration, shrinkingMs, failures, sent, held } = runner
  return { ...how, runs, calls, duration, shrinkingMs, failures, sent, held: [...held].toSorted() }
}

/** Shows which messages can be sent, and which failures the session has without being varied. */
async function runAsRecorded(session: FailingSession, runner: SessionRunner): Promise<readonly number[]> {
  const unsent = new Set<number>()
  await runner.tryOut({
    steps: session.items.map((item) => stepAsRecorded(item, session)),
    variation: [],
    run: 0,
    oracles: VARY_ORACLES,
    onStep: ({ item }, { state }) => {
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

/** The first variations use one operator each, later ones all of them. The same seed makes the same variations. */
function variation(
  context: VaryContext,
  items: readonly number[],
  number: number,
): { readonly steps: readonly VariedStep[]; readonly variation: readonly string[] } {
  const { random, session } = context
  let steps = excerpt(items, session, random)
  const what: string[] = []
  const isFirst = number <= VARY_OPERATORS.length
  const many = Math.ceil(steps.length / STEPS_PER_CHANGE)
  const most = isFirst ? Math.ceil(many / 2) : 1 + Math.floor(random() * many)
  for (let tries = 0; what.length < most && tries < 4 * most; tries++) {
    const operator = isFirst ? VARY_OPERATORS[number - 1] : pickOperator(context)
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
