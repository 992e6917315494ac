import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReelayError } from '../errors.ts'
import { monotonicNow } from '../link/process/monotonic-clock.ts'
import type { ReplayStep } from '../replay/steps/step.ts'
import type { FailingSession } from '../shrink/failing-session.ts'
import { anyOracle, onlyFailure, parseOracle } from '../shrink/oracle.ts'
import type { Failure } from '../shrink/watch.ts'
import { observeRun, type ServerProbe } from '../shrink/prober.ts'
import { shrinkTape, type ShrinkResult } from '../shrink/shrink.ts'
import { loadTape } from '../store/file/read.ts'
import { TAPE_EXTENSION } from '../store/home.ts'
import { callOf } from './operators.ts'
import { playableSession, type VariedStep } from './varied-session.ts'

export interface RunnerOptions {
  readonly probe: Omit<ServerProbe, 'oracle'>
  /** Where the tapes of failures are kept. */
  readonly keep: string
  /** `false` keeps the whole session that failed. */
  readonly shrinks: boolean
  readonly signal: AbortSignal
  readonly onProgress?: (progress: VaryProgress) => void
}

interface VaryProgress {
  readonly runs: number
  readonly calls: number
  readonly failures: number
  readonly stage: 'varying' | 'shrinking'
}

/** A failure of a changed session. */
export interface VariedFailure extends Failure {
  /** The condition of `reelay shrink` that it meets. */
  readonly fails: string
  /** What was varied. */
  readonly variation: readonly string[]
  /** The number of the run, from 1; 0 for the session as it was recorded. */
  readonly run: number
  /** The tape of the failing session, the smallest one if it was shrunk; `undefined` if no session is needed. */
  readonly path: string | undefined
  readonly shrunk: ShrinkResult | undefined
  /** False if it did not show again when the session was shrunk. */
  readonly isConfirmed: boolean
}

/** A changed session, with what is looked for in it. */
interface TriedSession {
  readonly steps: readonly VariedStep[]
  readonly variation: readonly string[]
  readonly run: number
  /** Conditions of `reelay shrink`. */
  readonly oracles: readonly string[]
  readonly onStep?: (step: VariedStep, result: ReplayStep) => void
  /** Returns true for a failure that does not matter. */
  readonly isIgnored?: (failure: Failure) => boolean
}

/** Runs changed sessions one after the other, and keeps and shrinks each new failure. */
export class SessionRunner {
  readonly failures: VariedFailure[] = []
  /** How many calls of each method and tool were sent. */
  readonly sent: Map<string, number> = new Map()
  /** Tools whose calls were not sent, because they may write and were not allowed. */
  readonly held: Set<string> = new Set()
  runs = 0
  calls = 0
  /** Milliseconds that failures were shrunk for. */
  shrinkingMs = 0
  readonly #session: FailingSession
  readonly #options: RunnerOptions
  readonly #folder = mkdtempSync(join(tmpdir(), 'reelay-vary-'))
  readonly #known = new Set<string>()
  readonly #began = monotonicNow()

  constructor(session: FailingSession, options: RunnerOptions) {
    this.#session = session
    this.#options = options
  }

  /** Milliseconds, without the time that failures were shrunk for. */
  get elapsed(): number {
    return monotonicNow() - this.#began - this.shrinkingMs
  }

  async tryOut({
    steps,
    variation,
    run,
    oracles,
    onStep = () => {},
    isIgnored = () => false,
  }: TriedSession): Promise<void> {
    const { probe, signal, onProgress } = this.#options
    this.runs = run
    onProgress?.({ runs: run, calls: this.calls, failures: this.failures.length, stage: 'varying' })
    const timeout = this.#timeout(steps)
    const played = await playableSession(this.#session, steps)
    const path = join(this.#folder, `run${TAPE_EXTENSION}`)
    rmSync(path, { force: true })
    const { failures, held } = await observeRun(
      played,
      { ...probe, oracle: anyOracle(oracles) },
      {
        path,
        signal,
        run: { timeout },
        isEnough: endsRun,
        onStep: (step) => {
          const varied = played.stepOf.get(step.frame)
          if (step.sent !== undefined && step.recordedId !== undefined) this.#count(varied?.item)
          if (varied !== undefined) onStep(varied, step)
        },
      },
    )
    for (const tool of held) this.held.add(tool)
    const isOver = failures.findIndex(({ failure }) => endsRun(failure))
    for (const { failure, item } of isOver < 0 ? failures : failures.slice(0, isOver + 1)) {
      const key = failureKey(failure)
      if (this.#known.has(key) || signal.aborted || isIgnored(failure)) continue
      this.#known.add(key)
      const shownBy = played.stepOf.get(played.tape.turns[item]?.trigger?.n ?? 0)?.probe
      await this.#keepFailure(failure, {
        path,
        variation: shownBy === undefined ? variation : [shownBy],
        run,
        timeout,
      })
    }
  }

  /** Adds a failure that was seen in another way than in a response. */
  add(
    failure: Failure,
    { run, variation }: Pick<TriedSession, 'run' | 'variation'> = { run: 0, variation: [] },
  ): void {
    const key = failureKey(failure)
    if (this.#known.has(key)) return
    this.#known.add(key)
    const fails = failure.fails ?? ''
    this.failures.push({
      ...failure,
      fails,
      variation,
      run,
      path: undefined,
      shrunk: undefined,
      isConfirmed: true,
    })
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #count(item: number | undefined): void {
    this.calls++
    if (item === undefined) return
    const name = callOf({ item }, { session: this.#session })
    this.sent.set(name, (this.sent.get(name) ?? 0) + 1)
  }

  /** Longer than every response on the tape took, and longer for a huge request, so that a slow call does not count as a hang. */
  #timeout(steps: readonly VariedStep[]): number {
    const { timeout } = this.#options.probe.run
    if (timeout !== undefined) return timeout
    const times = [...this.#session.part.turns].map(({ trigger, response }) =>
      trigger === undefined || response === undefined ? 0 : response.t - trigger.t,
    )
    const isHuge = steps.some(
      ({ edit }) => edit !== undefined && JSON.stringify(edit.value).length > HUGE_REQUEST,
    )
    return Math.max(isHuge ? HUGE_TIMEOUT_MS : SHORTEST_TIMEOUT_MS, 3 * Math.max(0, ...times))
  }

  async #keepFailure(
    failure: Failure,
    {
      path,
      variation,
      run,
      timeout,
    }: Pick<TriedSession, 'variation' | 'run'> & { readonly path: string; readonly timeout: number },
  ): Promise<void> {
    const { keep, probe, signal, shrinks, onProgress } = this.#options
    const began = monotonicNow()
    mkdirSync(keep, { recursive: true })
    const fails = failure.fails ?? ''
    const number = this.failures.length + 1
    const output = join(keep, `${fails}-${number}${TAPE_EXTENSION}`)
    onProgress?.({ runs: run, calls: this.calls, failures: number, stage: 'shrinking' })
    copyFileSync(path, output)
    let shrunk: ShrinkResult | undefined
    let isConfirmed = true
    if (shrinks)
      try {
        shrunk = await shrinkTape({
          tape: await loadTape(path, 'server'),
          probe: {
            ...probe,
            oracle: onlyFailure(parseOracle(fails), failure),
            run: { ...probe.run, timeout },
          },
          output,
          maxProbes: MOST_PROBES,
          maxMs: MOST_SHRINKING_MS,
          signal,
        })
      } catch (error) {
        if (!(error instanceof ReelayError) || error.code !== 'NOT_REPRODUCED') throw error
        isConfirmed = false
      }
    if (shrinks) this.shrinkingMs += monotonicNow() - began
    this.failures.push({ ...failure, fails, variation, run, path: output, shrunk, isConfirmed })
  }
}

function failureKey({ fails, call, signature }: Failure): string {
  return JSON.stringify([fails, call, signature])
}

/** Everything after a crash or a hang fails as well. */
function endsRun({ fails }: Failure): boolean {
  return fails === 'crash' || fails === 'hang'
}

const SHORTEST_TIMEOUT_MS = 5000
const HUGE_REQUEST = 500_000
/** Some servers take half a minute to read 8 MB. */
const HUGE_TIMEOUT_MS = 60_000
const MOST_PROBES = 120
const MOST_SHRINKING_MS = 30_000
