import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ReelayError } from '../errors.ts'
import { isObject, member, parseJson } from '../json/parse.ts'
import type { JsonPath } from '../json/path.ts'
import { monotonicNow } from '../link/process/monotonic-clock.ts'
import { toolsOnTape } from '../replay/plan/tool-safety.ts'
import { SchemaDocument } from '../schemas/schema-document.ts'
import type { Tape } from '../store/file/read.ts'
import { renewCanary } from './canary.ts'
import { type Candidate, type ValueEdit } from './candidate.ts'
import {
  type FailingSession,
  itemsUntil,
  likelySessions,
  readFailingSession,
  toolOfTurn,
} from './failing-session.ts'
import { type Failure, observeTurn } from './watch.ts'
import {
  chooseFailure,
  type FoundFailure,
  type ObservedFailure,
  NO_ITEM,
  Prober,
  SearchEnded,
  type Probe,
  type ProbeLimits,
} from './prober.ts'
import { reduceSet } from './reduce-set.ts'
import { shrinkValue } from './shrink-value.ts'

export interface ShrinkOptions extends ProbeLimits {
  readonly tape: Tape
  readonly server?: string | undefined
  /** Path of a bindings file; by default the one next to the tape. */
  readonly bindings?: string | undefined
  readonly probe: Probe
  /** The number of the exchange that fails, if there are several. */
  readonly at?: number | undefined
  /** The smallest tape so far is always in this file. */
  readonly output: string
}

/** How often a session was run, and how often it failed. */
interface RunCount {
  readonly failed: number
  readonly of: number
}

export interface ShrinkResult {
  readonly failure: Failure
  /** The smallest tape. */
  readonly path: string
  /** Messages of the client, without the handshake. */
  readonly messages: { readonly before: number; readonly after: number }
  /** The number of messages with smaller values. */
  readonly edits: number
  readonly probes: number
  /** Milliseconds. */
  readonly duration: number
  /** How often the failure showed when its messages were the fewest, and at the end. */
  readonly measured: RunCount
  readonly smallest: RunCount
  /** True if the failure also shows with one request at a time. */
  readonly isSequential: boolean
  /** True if the failure needs the recorded pauses. */
  readonly hasPauses: boolean
  /** Why the search ended before it was complete. */
  readonly stopped?: 'budget' | 'interrupted'
}

/** Reduces a failing session to its minimum: fewest messages first, then the smallest values, then the simplest way to send them. */
export async function shrinkTape(options: ShrinkOptions): Promise<ShrinkResult> {
  const renewed = renewCanary(options.tape, options.probe.kind === 'server' ? options.probe.command : [])
  const session = await readFailingSession(renewed.tape, options)
  const folder = mkdtempSync(join(tmpdir(), 'reelay-shrink-'))
  try {
    const prober = new Prober(session, {
      probe: options.probe,
      limits: options,
      folder,
      output: options.output,
    })
    return await new Shrinker(session, options, prober).shrink()
  } finally {
    renewed.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A session that fails, and the failure to keep. */
interface Reproduced {
  readonly wanted: FoundFailure
  readonly start: Candidate
}

class Shrinker {
  readonly #session: FailingSession
  readonly #options: ShrinkOptions
  readonly #prober: Prober

  constructor(session: FailingSession, options: ShrinkOptions, prober: Prober) {
    this.#session = session
    this.#options = options
    this.#prober = prober
  }

  async shrink(): Promise<ShrinkResult> {
    const { wanted, start } = await this.#reproduce()
    let stopped: ShrinkResult['stopped']
    let measured: RunCount = { failed: 1, of: 1 }
    try {
      const few = await this.#removeMessages(start, wanted)
      measured = await this.#measure(few, wanted)
      // What was kept because the failure did not show by chance is tried again, more often.
      const fewest = measured.failed < measured.of ? await this.#removeMessages(few, wanted) : few
      const smallest = await this.#shrinkValues(fewest, wanted)
      await this.#simplify(smallest, wanted)
    } catch (error) {
      if (!(error instanceof SearchEnded)) throw error
      stopped = error.why
    }
    const prober = this.#prober
    const best = prober.best ?? start
    const failed = await prober.countFailures(best, wanted, CONFIRMING_RUNS)
    return {
      failure: wanted.failure,
      path: this.#options.output,
      messages: { before: this.#session.items.length, after: best.turns.size },
      edits: [...best.edits.keys()].filter((turn) => best.turns.has(turn)).length,
      probes: prober.probes,
      duration: monotonicNow() - prober.began,
      measured,
      smallest: { failed, of: CONFIRMING_RUNS },
      isSequential: best.isSequential,
      hasPauses: best.hasPauses,
      ...(stopped !== undefined && { stopped }),
    }
  }

  /**
   * Finds the failure. If the tape shows it, small sessions that are likely to fail are tried first, which often saves the slow runs of
   * the whole session.
   */
  async #reproduce(): Promise<Reproduced> {
    const recorded = this.#failureOnTape()
    if (recorded !== undefined)
      for (const turns of likelySessions(this.#session, recorded.item)) {
        const start = candidateOf(turns)
        if (await this.#prober.fails(start, recorded)) return { wanted: recorded, start }
      }
    for (const hasPauses of [false, true]) {
      for (let run = 1; run <= MOST_FIRST_RUNS; run++) {
        const start = { ...candidateOf(this.#session.items), hasPauses }
        const found = await this.#prober.observe(start, recorded, this.#options.at)
        if (found === undefined) continue
        const failure = await this.#withStableValue(found, start)
        return { wanted: { failure, item: recorded?.item ?? found.item }, start }
      }
    }
    throw this.#notReproduced()
  }

  /**
   * Without the calls that a response depends on, it differs from the tape in the same place for another reason. So the value must stay
   * the same, unless it is another one in each run.
   */
  async #withStableValue({ failure, item, exchange }: ObservedFailure, start: Candidate): Promise<Failure> {
    if (failure.value === undefined) return failure
    const again = await this.#prober.observe(start, undefined, exchange)
    return again?.item === item && again.failure.value === failure.value
      ? failure
      : { ...failure, value: undefined }
  }

  /** Measures how often the failure shows, and with it how often each smaller session has to be tried. A small session takes less time. */
  async #measure(candidate: Candidate, wanted: FoundFailure): Promise<RunCount> {
    const failed = await this.#prober.countFailures(candidate, wanted, MEASURING_RUNS)
    if (failed < MEASURING_RUNS) this.#prober.tryOften(votesFor((failed + 1) / (MEASURING_RUNS + 1)))
    return { failed, of: MEASURING_RUNS }
  }

  #failureOnTape(): FoundFailure | undefined {
    const { probe, at } = this.#options
    if (probe.kind === 'command') return undefined
    const { part, items } = this.#session
    const watch = probe.oracle.watch({ known: [] })
    const failures = items.flatMap((item) => {
      const turn = part.turns.at(item)
      const call = turn && observeTurn(turn)
      const failure = call && watch.failureOf(call)
      return failure === undefined ? [] : [{ failure, item, exchange: call?.exchange }]
    })
    return chooseFailure(failures, at)
  }

  #notReproduced(): ReelayError {
    const { probe, at } = this.#options
    if (probe.kind === 'command')
      return new ReelayError('NOT_REPRODUCED', `the command succeeds with the whole tape: ${probe.text}`, {
        hint: 'run it by hand: it must exit with another code than 0 while it uses {tape}',
      })
    const where = at === undefined ? 'no call of the session' : `exchange #${at}`
    const held = heldHint(this.#prober.heldTools)
    return new ReelayError('NOT_REPRODUCED', `${where} fails: ${probe.oracle.text}`, {
      hint:
        held ??
        `the session was replayed ${2 * MOST_FIRST_RUNS} times, half of them with its recorded pauses; reelay replay shows each response`,
    })
  }

  /** Looks for a small session that fails among the likely ones, and removes from it what is not needed. */
  async #removeMessages(start: Candidate, wanted: FoundFailure): Promise<Candidate> {
    this.#prober.stage = 'removing messages'
    const { needs } = this.#session
    let { turns } = start
    const likely = wanted.item === NO_ITEM ? [] : likelySessions(this.#session, wanted.item)
    for (const guess of [...likely, itemsUntil(this.#session, wanted.item)]) {
      if (guess.size >= turns.size) continue
      if (!(await this.#prober.fails({ ...start, turns: guess }, wanted))) continue
      turns = guess
      break
    }
    const reduced = async (from: ReadonlySet<number>, hasPauses: boolean): Promise<Candidate> => {
      const test = (rest: ReadonlySet<number>): Promise<boolean> =>
        this.#prober.fails({ ...start, turns: rest, hasPauses }, wanted)
      return { ...start, turns: await reduceSet(from, { needs, keep: wanted.item, test }), hasPauses }
    }
    const fewest = await reduced(turns, start.hasPauses)
    const paused = await this.#withPauses(fewest, wanted)
    return paused === undefined ? fewest : reduced(paused, true)
  }

  /**
   * Returns fewer messages that fail with the pauses of the tape, if there are any: without pauses, calls that take long may be left over
   * only because they let time pass.
   */
  async #withPauses(
    { turns, ...fewest }: Candidate,
    wanted: FoundFailure,
  ): Promise<ReadonlySet<number> | undefined> {
    if (fewest.hasPauses || wanted.item === NO_ITEM || !hasPausesOnTape(this.#session)) return undefined
    for (const guess of likelySessions(this.#session, wanted.item)) {
      if (guess.size >= turns.size) return undefined
      if (recordedTime(this.#session, guess) > LONGEST_PAUSES_MS) continue
      if (await this.#prober.fails({ ...fewest, turns: guess, hasPauses: true }, wanted)) return guess
    }
    return undefined
  }

  /**
   * Makes arguments smaller, and for a command the results that it gets. Requests stay as they are if responses are compared with the
   * tape.
   */
  async #shrinkValues(start: Candidate, wanted: FoundFailure): Promise<Candidate> {
    const { probe } = this.#options
    if (probe.kind === 'server' && probe.oracle.comparesWithTape) return start
    this.#prober.stage = 'shrinking values'
    let best = start
    for (const turn of [...start.turns].toSorted((one, other) => one - other)) {
      const place = this.#shrinkablePlace(turn, probe.kind === 'server' ? 'request' : 'response')
      if (place === undefined) continue
      const { isValid, ...edit } = place
      await shrinkValue(edit.value, {
        isFixed: (inner) => this.#isCarried(turn, [...edit.path, ...inner]),
        test: async (value) => {
          if (!isValid(value)) return false
          const candidate = { ...best, edits: new Map(best.edits).set(turn, { ...edit, value }) }
          if (!(await this.#prober.fails(candidate, wanted))) return false
          best = candidate
          return true
        },
      })
    }
    return best
  }

  /** The arguments of a call or the result of a response. Valid ones stay valid by the schema of the tool. */
  #shrinkablePlace(
    item: number,
    side: ValueEdit['side'],
  ): (ValueEdit & { readonly isValid: (value: unknown) => boolean }) | undefined {
    const { part } = this.#session
    const turn = part.turns.at(item)
    const message = side === 'request' ? turn?.trigger : turn?.response
    if (message === undefined || message.item !== undefined) return undefined
    const json = parseJson(message.text)
    const value = side === 'request' ? member(member(json, 'params'), 'arguments') : member(json, 'result')
    if (!isObject(value)) return undefined
    const path = side === 'request' ? ['params', 'arguments'] : ['result']
    const tool = toolsOnTape(part).get(toolOfTurn(turn) ?? '')
    const schema = member(tool, side === 'request' ? 'inputSchema' : 'outputSchema')
    const document = schema === undefined ? undefined : new SchemaDocument(schema)
    const judged = (each: unknown): unknown => (side === 'request' ? each : member(each, 'structuredContent'))
    const isChecked = document?.accepts(judged(value)) === true
    return { side, path, value, isValid: (each) => !isChecked || document.accepts(judged(each)) !== false }
  }

  #isCarried(turn: number, path: JsonPath): boolean {
    return this.#session.bindings.bindings.some(({ producer, also, consumers }) =>
      [producer, ...also, ...consumers].some(
        (place) => 'turn' in place && place.turn === turn && isOnOneBranch(place.path, path),
      ),
    )
  }

  /** Tries to do without pauses, further connections and concurrency. */
  async #simplify(start: Candidate, wanted: FoundFailure): Promise<void> {
    if (this.#options.probe.kind === 'command') return
    this.#prober.stage = 'simplifying'
    let best = start
    const { turns } = this.#session.part
    const connections = new Set([...start.turns].map((turn) => turns.at(turn)?.trigger?.conn))
    const changes: readonly Partial<Candidate>[] = [
      ...(start.hasPauses ? [{ hasPauses: false }] : []),
      ...(connections.size > 1 ? [{ isOneConnection: true }] : []),
      { isSequential: true },
    ]
    for (const change of changes)
      if (await this.#prober.fails({ ...best, ...change }, wanted)) best = { ...best, ...change }
  }
}

/** How to send the calls that were held back; `undefined` if there were none. */
export function heldHint(tools: ReadonlySet<string>): string | undefined {
  if (tools.size === 0) return undefined
  const names = [...tools].join()
  return `calls of ${names} were not sent because they may write; to send them: --allow ${names} or --allow-writes`
}

/** How long it takes to send these messages with the pauses of the tape, in milliseconds. */
function recordedTime({ part }: FailingSession, items: ReadonlySet<number>): number {
  const times = [...items].map((item) => part.turns.at(item)?.trigger?.t ?? 0)
  return Math.max(...times) - Math.min(...times)
}

const LONGEST_PAUSES_MS = 30_000

/** Whether the client waited somewhere although nothing was open. */
function hasPausesOnTape({ part, items }: FailingSession): boolean {
  let idleSince = Infinity
  for (const item of items) {
    const { trigger, response } = part.turns.at(item) ?? {}
    if (trigger !== undefined && trigger.t - idleSince >= SHORTEST_PAUSE_MS) return true
    const end = response?.t ?? trigger?.t ?? 0
    idleSince = idleSince === Infinity ? end : Math.max(idleSince, end)
  }
  return false
}

const SHORTEST_PAUSE_MS = 50

/** The whole session is run this often with and without its pauses before it counts as not failing. */
const MOST_FIRST_RUNS = 5
const MEASURING_RUNS = 4
const CONFIRMING_RUNS = 3
const MOST_VOTES = 10

/** The runs after which a failure with this rate has shown in 19 of 20 cases. */
function votesFor(rate: number): number {
  return rate === 1 ? 1 : Math.min(MOST_VOTES, Math.ceil(Math.log(0.05) / Math.log(1 - rate)))
}

function candidateOf(turns: Iterable<number>): Candidate {
  return {
    turns: new Set(turns),
    edits: new Map(),
    isSequential: false,
    hasPauses: false,
    isOneConnection: false,
  }
}

/** Whether one path leads to the other, or into it. */
function isOnOneBranch(one: JsonPath, other: JsonPath): boolean {
  const length = Math.min(one.length, other.length)
  return one.slice(0, length).every((segment, at) => segment === other[at])
}
