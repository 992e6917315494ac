import { copyFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { monotonicNow } from '../link/process/monotonic-clock.ts'
import { ReplayController } from '../replay/control/controller.ts'
import type { ReplayOptions, ReplayTarget } from '../replay/options.ts'
import { recordTarget } from '../replay/record-target.ts'
import { replay } from '../replay/replay.ts'
import { linkNameOf } from '../replay/plan/plan.ts'
import type { ReplayStep } from '../replay/steps/step.ts'
import { isPlainlyOk } from '../protocol/outcome.ts'
import {
  type Candidate,
  candidateKey,
  candidateTape,
  withAwaitedResponses,
  writeCandidate,
} from './candidate.ts'
import type { FailingSession } from './failing-session.ts'
import { type Oracle } from './oracle.ts'
import { type Failure, isSameFailure, observeStep } from './watch.ts'

/** How a candidate is tried: against a live server, or by a test command that uses the tape. */
export type Probe = ServerProbe | CommandProbe

export interface ServerProbe {
  readonly kind: 'server'
  readonly target: ReplayTarget
  /** The command of the server; empty for a URL. */
  readonly command: readonly string[]
  readonly oracle: Oracle
  /** Options of each run, such as what may be called. */
  readonly run: Omit<ReplayOptions, 'target' | 'correlate' | 'signal' | 'controller'>
  /** Values that must not be on a tape. */
  readonly secrets: readonly string[]
  /** Runs before each try, for example to reset the server. */
  readonly before?: (() => Promise<void>) | undefined
}

interface CommandProbe {
  readonly kind: 'command'
  readonly text: string
  /** Runs the command with the tape in this file. Returns how it failed, or `undefined` if it succeeded. */
  readonly run: (tape: string, signal: AbortSignal) => Promise<string | undefined>
}

export interface ProbeLimits {
  readonly maxProbes: number
  readonly maxMs: number
  readonly signal: AbortSignal
  readonly onProgress?: ((progress: ShrinkProgress) => void) | undefined
}

interface ShrinkProgress {
  readonly probes: number
  readonly messages: number
  readonly stage: string
}

/** A failure in a run, and the position of the message that showed it. */
export interface FoundFailure {
  readonly failure: Failure
  /** `NO_ITEM` if a command failed, which belongs to no message. */
  readonly item: number
}

export const NO_ITEM = -1

/** Ends the search. What was found before stays. */
export class SearchEnded extends Error {
  readonly why: 'budget' | 'interrupted'

  constructor(why: 'budget' | 'interrupted') {
    super(why)
    this.why = why
  }
}

/** Tries candidates. Keeps the best one and its tape, which is always on the disk. */
export class Prober {
  stage = 'reproduce'
  readonly began: number = monotonicNow()
  /** Tools whose calls were not sent, because they may write and were not allowed. */
  readonly heldTools: Set<string> = new Set()
  /** The calls that were sent in any run, such as `tools/call get_order`. */
  readonly sentCalls: Set<string> = new Set()
  readonly #session: FailingSession
  readonly #probe: Probe
  readonly #limits: ProbeLimits
  /** Where the tapes of tries are written. */
  readonly #folder: string
  readonly #output: string
  readonly #known = new Map<string, boolean>()
  #probes = 0
  /** How often a candidate is tried before it counts as not failing. */
  #votes = 1
  #best: Candidate | undefined

  constructor(
    session: FailingSession,
    options: {
      readonly probe: Probe
      readonly limits: ProbeLimits
      readonly folder: string
      readonly output: string
    },
  ) {
    this.#session = session
    this.#probe = options.probe
    this.#limits = options.limits
    this.#folder = options.folder
    this.#output = options.output
  }

  get probes(): number {
    return this.#probes
  }

  get best(): Candidate | undefined {
    return this.#best
  }

  /** From now on, a candidate has to be tried this often before it counts as not failing. */
  tryOften(votes: number): void {
    this.#votes = votes
    for (const [key, isFailing] of this.#known) if (!isFailing) this.#known.delete(key)
  }

  /** Returns true if a candidate fails as wanted. A failure that comes and goes is looked for in several runs. */
  async fails(candidate: Candidate, wanted: FoundFailure): Promise<boolean> {
    const key = candidateKey(candidate)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    let isFailing = false
    for (let vote = 0; vote < this.#votes && !isFailing; vote++)
      isFailing = (await this.observe(candidate, wanted)) !== undefined
    this.#known.set(key, isFailing)
    return isFailing
  }

  /** Runs a candidate once. Without a wanted failure, any one counts; with `at`, only that of this exchange. */
  async observe(
    candidate: Candidate,
    wanted: FoundFailure | undefined,
    at?: number,
  ): Promise<ObservedFailure | undefined> {
    this.#spend(candidate)
    const { found, tape } = await this.#runOnce(candidate, wanted, at)
    if (found !== undefined) await this.#accept(candidate, tape)
    return found
  }

  /** Counts how often the best candidate fails. These runs do not count as tries. */
  async countFailures(candidate: Candidate, wanted: FoundFailure, runs: number): Promise<number> {
    let failed = 0
    for (let run = 0; run < runs && !this.#limits.signal.aborted; run++)
      if ((await this.#runOnce(candidate, wanted)).found !== undefined) failed++
    return failed
  }

  #spend({ turns }: Candidate): void {
    const { maxProbes, maxMs, signal, onProgress } = this.#limits
    if (signal.aborted) throw new SearchEnded('interrupted')
    if (this.#best !== undefined && (this.#probes >= maxProbes || monotonicNow() - this.began > maxMs))
      throw new SearchEnded('budget')
    this.#probes++
    onProgress?.({ probes: this.#probes, messages: turns.size, stage: this.stage })
  }

  async #runOnce(candidate: Candidate, wanted: FoundFailure | undefined, at?: number): Promise<ProbeResult> {
    const file = join(this.#folder, 'try.tape.jsonl')
    rmSync(file, { force: true })
    if (this.#probe.kind === 'server') return this.#runReplay(candidate, this.#probe, { wanted, at, file })
    const tape = await writeCandidate(this.#session.tape, candidate, file)
    const ended = await this.#probe.run(tape, this.#limits.signal)
    if (ended === undefined) return { found: undefined, tape }
    const failure = { call: 'the command', signature: ended, summary: ended }
    const isWanted = wanted === undefined || isSameFailure(wanted.failure, failure)
    return { found: isWanted ? { failure, item: NO_ITEM } : undefined, tape }
  }

  async #runReplay(
    candidate: Candidate,
    probe: ServerProbe,
    {
      wanted,
      at,
      file,
    }: { readonly wanted: FoundFailure | undefined; readonly at: number | undefined; readonly file: string },
  ): Promise<ProbeResult> {
    const session = { ...this.#session, tape: candidateTape(this.#session.tape, candidate) }
    const path = probe.oracle.comparesWithTape ? undefined : file
    const { failures, held, sent } = await observeRun(session, probe, {
      path,
      signal: this.#limits.signal,
      run: {
        ...(candidate.isSequential && { maxConcurrent: 1 }),
        ...(candidate.hasPauses && { timing: { kind: 'original' } }),
      },
      // The rest of the session cannot change the result.
      isEnough: (failure) => wanted !== undefined && isSameFailure(failure, wanted.failure),
    })
    for (const tool of held) this.heldTools.add(tool)
    for (const call of sent) this.sentCalls.add(call)
    return {
      found: wanted === undefined ? chooseFailure(failures, at) : sameFailure(failures, wanted),
      tape: path,
    }
  }

  /** Puts the tape of the best candidate into its place in one step. */
  async #accept(candidate: Candidate, tape: string | undefined): Promise<void> {
    this.#best = candidate
    const draft = `${this.#output}.draft`
    rmSync(draft, { force: true })
    if (tape === undefined) await writeCandidate(this.#session.tape, candidate, draft)
    else copyFileSync(tape, draft)
    renameSync(draft, this.#output)
  }
}

/** A session with what its messages carry, as it is sent. */
export type PlayedSession = Pick<FailingSession, 'tape' | 'part' | 'bindings'>

interface ObserveOptions {
  /** The tape of the run; `undefined` for none. */
  readonly path: string | undefined
  readonly signal: AbortSignal
  /** Options of this run alone. */
  readonly run?: Pick<ReplayOptions, 'maxConcurrent' | 'timing' | 'timeout'>
  /** Returns true for a failure after which the rest of the session does not matter. */
  readonly isEnough: (failure: Failure) => boolean
  readonly onStep?: (step: ReplayStep) => void
}

export interface ObservedFailure extends FoundFailure {
  readonly exchange?: number | undefined
}

interface ObservedRun {
  readonly failures: readonly ObservedFailure[]
  /** Tools whose calls were not sent, because they may write and were not allowed. */
  readonly held: ReadonlySet<string>
  /** The calls that were sent. */
  readonly sent: ReadonlySet<string>
}

/** Runs a session once against a server and returns the failures that the oracle sees. */
export async function observeRun(
  { tape, part, bindings }: PlayedSession,
  { oracle, target, command, secrets, run: options, before }: ServerProbe,
  { path, signal, run: own, isEnough, onStep }: ObserveOptions,
): Promise<ObservedRun> {
  await before?.()
  const recorded = recordTarget(target, {
    path,
    of: tape.header.id,
    handshake: undefined,
    turns: part.turns,
    command,
    secrets,
  })
  const controller = new ReplayController()
  const run = replay(oracle.comparesWithTape ? tape : withAwaitedResponses(tape), {
    ...options,
    ...own,
    target: recorded.target,
    correlate: bindings,
    controller,
    signal: AbortSignal.any([signal]), // its listeners are released with the run
  })
  const watch = oracle.watch({ known: knownTexts(part, command) })
  const items = new Map(
    Array.from({ length: part.turns.size }, (_, item) => [part.turns.summary(item).frame, item]),
  )
  const links = new Map(tape.turns.map((turn) => [turn.trigger?.n ?? 0, linkNameOf(turn)]))
  const failures: ObservedFailure[] = []
  const held = new Set<string>()
  const sent = new Set<string>()
  try {
    for await (const step of run) {
      onStep?.(step)
      if (step.state === 'held') held.add(step.tool ?? step.method)
      if (step.state === 'skipped') continue
      const item = items.get(step.frame) ?? NO_ITEM
      const call = observeStep(step, links.get(step.frame) ?? '')
      if (step.sent !== undefined) sent.add(call.name)
      const failure = watch.failureOf(call)
      if (failure === undefined) continue
      failures.push({ failure, exchange: step.exchange, item })
      if (isEnough(failure)) controller.stop()
    }
    const { notes } = await run.report
    const failure = watch.failureIn?.(notes)
    if (failure !== undefined) failures.push({ failure, exchange: undefined, item: NO_ITEM })
  } finally {
    await recorded.closeTape()
  }
  return { failures, held, sent }
}

/** What the user knows: the server command, and what the tape says, without errors. It is read when it is needed. */
function knownTexts({ turns }: FailingSession['part'], command: readonly string[]): Iterable<string> {
  return {
    *[Symbol.iterator]() {
      yield* command
      for (const { trigger, response } of turns) {
        if (trigger !== undefined) yield trigger.text
        if (response !== undefined && isPlainlyOk(response.text)) yield response.text
      }
    },
  }
}

interface ProbeResult {
  readonly found: ObservedFailure | undefined
  /** The tape of the run; `undefined` if the part of the original tape is kept instead. */
  readonly tape: string | undefined
}

/** The last kind of failure, where it first shows: earlier failures of another kind are often expected. */
export function chooseFailure<Found extends ObservedFailure>(
  failures: readonly Found[],
  at: number | undefined,
): Found | undefined {
  const wanted = at === undefined ? failures : failures.filter(({ exchange }) => exchange === at)
  const last = wanted.at(-1)
  return last && sameFailure(wanted, { ...last, failure: { ...last.failure, value: undefined } })
}

function sameFailure<Found extends FoundFailure>(
  failures: readonly Found[],
  wanted: FoundFailure,
): Found | undefined {
  return failures.find(({ failure }) => isSameFailure(failure, wanted.failure))
}
