import { performance } from 'node:perf_hooks'
import { ReelayError } from '../errors.ts'
import { Histogram } from '../histogram.ts'
import { ReplayController } from '../replay/control/controller.ts'
import { DEFAULT_START_TIMEOUT, type ReplayTarget } from '../replay/options.ts'
import { DEFAULT_TIMEOUT } from '../replay/session/deadlines.ts'
import { type ReplayedTape, selectServerPart } from '../replay/plan/server-part.ts'
import { toolsOnTape, type WritePermission } from '../replay/plan/tool-safety.ts'
import { EarlyRequests } from '../replay/send/early-requests.ts'
import { liveSecrets, withLiveSecrets } from '../replay/session/live-secrets.ts'
import { Peer } from '../replay/session/peer.ts'
import { bindingsOfPart } from '../replay/values/tape-bindings.ts'
import { DEFAULT_SEED, seededRandom } from '../seeded-random.ts'
import { type CallMeasurement, LoadTotals, SESSION_COUNTS, type SessionCount } from './measurements.ts'
import { PreciseTimer } from './precise-timer.ts'
import { arrivalTimes, levelAt, type LoadShape } from './shape.ts'
import {
  createLoadScenario,
  HANDSHAKE_LABEL,
  playSession,
  type LoadScenario,
  type UserContext,
} from './virtual-user.ts'

/** A tape whose session virtual users play. */
export interface LoadTape {
  readonly tape: ReplayedTape
  /** How often this session is played, in relation to the others; by default 1. */
  readonly weight?: number
}

/** Options of `load`. */
export interface LoadOptions extends WritePermission {
  readonly target: ReplayTarget
  /** `open`: sessions start at a rate, whether or not earlier ones are over. `closed`: each user starts the next session after the last. */
  readonly model: 'open' | 'closed'
  /** Sessions a second in the open model, users in the closed one. */
  readonly shape: LoadShape
  /** Think times are multiplied by this (default 1); 0 leaves them out. */
  readonly thinkFactor?: number
  /** `random` starts sessions at random times, as independent users do; by default they start at even intervals. */
  readonly arrivals?: 'even' | 'random'
  readonly seed?: number
  /** How many sessions may be open at once; further ones wait. For stdio servers, each is a process. */
  readonly maxSessions?: number
  /** Milliseconds that open sessions get to finish at the end; by default 5000. */
  readonly grace?: number
  /** Sessions that are played one after the other before the run, to learn how long calls take without load; by default 3. */
  readonly calibrate?: number
  /** Expected response times in milliseconds by tool or method, from `calibrateLoad`; by default this run calibrates itself. */
  readonly expected?: ReadonlyMap<string, number>
  /** Plays only a part of the load: this thread or machine, of so many. */
  readonly part?: { readonly index: number; readonly of: number }
  /** Called when everything is prepared; the run begins when it resolves, or at the time that it returns. */
  readonly beforeStart?: () => Promise<PartStart | undefined>
  /** Counts a session and its calls when it is over. Another machine can then repeat those that this one did not finish. */
  readonly countsWholeSessions?: boolean
  readonly server?: string
  readonly timeout?: number
  readonly startTimeout?: number
  /** Values behind placeholders of redacted tapes, in addition to those in the environment. */
  readonly secretValues?: readonly string[]
  readonly signal?: AbortSignal
  /** Called after each second with what happened in it. */
  readonly onInterval?: (interval: LoadInterval) => void
}

/** One second of a run. */
export interface LoadInterval {
  /** Milliseconds from the start of the run to the end of this second. */
  readonly at: number
  /** The users, or the sessions a second, that the shape asks for at this time. */
  readonly level: number
  /** Sessions that are open now. */
  readonly open: number
  readonly totals: LoadTotals
  /** With `countsWholeSessions` in the open model: the sessions of this part that ended, numbered from 0. */
  readonly ended?: readonly number[]
}

/** When a part of a run begins. */
export interface PartStart {
  /** Milliseconds since the epoch, by the clock of this machine. */
  readonly at?: number
  /** What an earlier attempt at this part has finished; the rest is played. */
  readonly resume?: PartProgress
}

/** How much of a part of a run is done. */
export interface PartProgress {
  /** Milliseconds of the run for which the users of the closed model were played. */
  readonly until: number
  /** Sessions of the open model that are over: all below `next`, and those in `beyond`. */
  readonly next: number
  readonly beyond: readonly number[]
}

/** The result of a run. */
export interface LoadResult {
  readonly totals: LoadTotals
  /** Milliseconds from the start to the end of the last session. */
  readonly duration: number
  readonly wasStopped: boolean
  /** Expected response times in milliseconds by tool or method, and where they come from. */
  readonly expected: ReadonlyMap<string, number>
  readonly expectedFrom: 'calibration' | 'recording'
  readonly generator: GeneratorLoad
  /** Calls of tools that may write, which were not sent, by tool. */
  readonly heldBack: ReadonlyMap<string, number>
  /** The first reasons why a session could not be opened. */
  readonly failures: readonly string[]
  readonly mostOpen: number
}

/** How busy this program was. If it was the limit, the response times are those of the program and not of the server. */
interface GeneratorLoad {
  /** Share of the time in which the thread was busy, 0 to 1. */
  readonly busy: number
  /** Sessions that had to wait because `maxSessions` were open. */
  readonly waited: number
}

/** Plays recorded sessions as virtual users against a live server, and measures what the users would notice. */
export async function load(tapes: readonly LoadTape[], options: LoadOptions): Promise<LoadResult> {
  const parts = startRun(options)
  try {
    const scenarios = await Promise.all(tapes.map((each) => prepare(each, options, parts.controller)))
    const expected = options.expected ?? (await calibrate(scenarios, options, parts))
    const start = await options.beforeStart?.()
    return await new LoadRun(scenarios, options, { ...parts, expected }).run(start)
  } finally {
    await parts.timer.close()
  }
}

/** Plays each session a few times on its own. Returns the expected response times for several runs of `load` that share them. */
export async function calibrateLoad(
  tapes: readonly LoadTape[],
  options: LoadOptions,
): Promise<ReadonlyMap<string, number>> {
  const parts = startRun(options)
  try {
    const scenarios = await Promise.all(tapes.map((each) => prepare(each, options, parts.controller)))
    return await calibrate(scenarios, options, parts)
  } finally {
    await parts.timer.close()
  }
}

function startRun({ signal }: LoadOptions): RunParts {
  const controller = new ReplayController()
  const onStop = new Set<() => void>()
  controller.start()
  controller.stopped.addEventListener('abort', () => {
    for (const stop of onStop) stop()
  })
  if (signal?.aborted === true) controller.stop()
  signal?.addEventListener('abort', () => controller.stop(), { once: true })
  return { controller, onStop, timer: new PreciseTimer() }
}

interface WeightedScenario {
  readonly scenario: LoadScenario
  readonly weight: number
  readonly open: ReplayTarget['open']
}

/** Asks the live server for its tools, because tools that may write are called only if the user allows it. */
async function prepare(
  { tape, weight = 1 }: LoadTape,
  options: LoadOptions,
  controller: ReplayController,
): Promise<WeightedScenario> {
  const part = await selectServerPart(tape, options.server)
  const secrets = liveSecrets(tape.header, { values: options.secretValues ?? [] })
  const { open: openPlain } = options.target
  const open = secrets === undefined ? openPlain : withLiveSecrets(openPlain, secrets)
  const { timeout = DEFAULT_TIMEOUT, startTimeout = DEFAULT_START_TIMEOUT } = options
  const peer = new Peer(part, {
    open,
    handshake: 'own',
    timeout,
    startTimeout,
    onAsk: 'decline',
    onOpening: () => {},
    controller,
    signal: options.signal,
    now: () => performance.now(),
  })
  try {
    const [tools, found] = await Promise.all([
      peer.tools([], new EarlyRequests({ timeout: options.timeout, keepsIds: false })),
      bindingsOfPart(part, tape),
    ])
    const known = tools.size === 0 ? toolsOnTape(part) : tools
    const scenario = createLoadScenario(tape.path, part, found, { permission: options, tools: known })
    if (scenario.messages.length === 0) throw nothingToSend(scenario)
    return { scenario, weight, open }
  } finally {
    await peer.close()
  }
}

function nothingToSend({ name, heldBack }: LoadScenario): ReelayError {
  const tools = [...heldBack.keys()]
  return new ReelayError('USAGE', `${name} has no request that can be sent`, {
    hint:
      tools.length === 0
        ? 'record a session with requests'
        : `the calls of ${tools.join(', ')} may write. To send them: --allow ${tools.join(',')}, or --allow-writes`,
  })
}

interface RunParts {
  readonly controller: ReplayController
  readonly onStop: Set<() => void>
  readonly timer: PreciseTimer
}

/** Plays each session a few times on its own. Returns the median response time of each tool and method. */
async function calibrate(
  scenarios: readonly WeightedScenario[],
  { calibrate: runs = 3, ...options }: LoadOptions,
  parts: RunParts,
): Promise<ReadonlyMap<string, number>> {
  const service = new Map<string, Histogram>()
  for (const { scenario, open } of scenarios)
    for (let run = 0; run < runs && parts.controller.status === 'running'; run++)
      await playSession(scenario, parts.timer.now(), {
        ...userContext(options, parts),
        open,
        thinkFactor: 0,
        expected: ({ recorded }) => recorded,
        onCall: (label, call) => {
          const known = service.get(label) ?? new Histogram()
          known.add(call.service)
          service.set(label, known)
        },
      })
  return new Map([...service].map(([label, histogram]) => [label, histogram.percentile(0.5)]))
}

function userContext(
  { timeout, startTimeout = DEFAULT_START_TIMEOUT, thinkFactor = 1 }: Partial<LoadOptions>,
  { controller, onStop, timer }: RunParts,
): Omit<UserContext, 'open' | 'expected' | 'onCall'> {
  return { timeout, startTimeout, thinkFactor, controller, onStop, timer }
}

const MAX_FAILURES = 5
const DEFAULT_GRACE = 5000

/** One run: starts sessions by the shape, and adds up what they measure. */
class LoadRun {
  readonly #scenarios: readonly WeightedScenario[]
  readonly #options: LoadOptions
  readonly #parts: RunParts & { readonly expected: ReadonlyMap<string, number> }
  readonly #totals = new LoadTotals()
  #interval = new LoadTotals()
  readonly #sessions = new Set<Promise<void>>()
  readonly #waiting: (() => void)[] = []
  readonly #failures: string[] = []
  readonly #pick: (session: number) => WeightedScenario
  #ended: number[] = []
  #began = 0
  #open = 0
  #mostOpen = 0
  #waited = 0

  constructor(
    scenarios: readonly WeightedScenario[],
    options: LoadOptions,
    parts: RunParts & { expected: ReadonlyMap<string, number> },
  ) {
    this.#scenarios = scenarios
    this.#options = options
    this.#parts = parts
    this.#pick = weightedChoice(scenarios, options.seed ?? DEFAULT_SEED)
  }

  async run({ at, resume }: PartStart = {}): Promise<LoadResult> {
    const { model, shape, grace = DEFAULT_GRACE } = this.#options
    const { timer, controller, expected } = this.#parts
    const isOver = resume === undefined ? () => false : sessionsOver(resume)
    this.#began = timer.now() + (at === undefined ? 0 : at - Date.now())
    if (resume !== undefined) this.#began = timer.now() - this.#timeOf(resume, isOver)
    if (this.#began > timer.now()) await timer.until(this.#began)
    const busyBefore = performance.eventLoopUtilization()
    const ticks = setInterval(() => this.#closeInterval(), INTERVAL_MS)
    await (model === 'open' ? this.#startAtRate(isOver) : this.#startUsers())
    const wasStopped = controller.status === 'stopped'
    if (!wasStopped) {
      const end = this.#began + shape.duration + grace
      await Promise.race([Promise.all(this.#sessions), timer.until(end)])
    }
    controller.stop() // cuts off the sessions that are still open
    await Promise.all(this.#sessions)
    const duration = timer.now() - this.#began
    clearInterval(ticks)
    this.#closeInterval()
    return {
      totals: this.#totals,
      duration,
      wasStopped,
      expected,
      expectedFrom: expected.size > 0 ? 'calibration' : 'recording',
      generator: {
        busy: performance.eventLoopUtilization(performance.eventLoopUtilization(), busyBefore).utilization,
        waited: this.#waited,
      },
      heldBack: mergeCounts(this.#scenarios.map(({ scenario }) => scenario.heldBack)),
      failures: this.#failures,
      mostOpen: this.#mostOpen,
    }
  }

  /** The open model: sessions start at their times, also if earlier ones are late. */
  async #startAtRate(isOver: (session: number) => boolean): Promise<void> {
    const { timer, controller } = this.#parts
    for (const { at, session } of this.#arrivals()) {
      if (isOver(session)) continue
      const start = this.#began + at
      if (start > timer.now()) await timer.until(start)
      if (controller.status === 'stopped') return
      void this.#play(start, session)
    }
    await timer.until(this.#began + this.#options.shape.duration)
  }

  /** The sessions of this part, numbered from 0. Other threads or machines start the others. */
  *#arrivals(): Generator<{ readonly at: number; readonly session: number }> {
    const { shape, arrivals, seed = DEFAULT_SEED } = this.#options
    const random = arrivals === 'random' ? seededRandom(seed + 1) : undefined
    const { index, of } = this.#part
    let arrival = 0
    for (const at of arrivalTimes(shape, random))
      if (arrival++ % of === index) yield { at, session: Math.floor((arrival - 1) / of) }
  }

  /** The time of the run at which a part goes on that an earlier attempt has left: with the first session that is not over. */
  #timeOf({ until }: PartProgress, isOver: (session: number) => boolean): number {
    const { model, shape } = this.#options
    if (model === 'closed') return until
    for (const { at, session } of this.#arrivals()) if (!isOver(session)) return at
    return shape.duration
  }

  /** The closed model: as many users as the shape asks for, each with one session after the other. */
  async #startUsers(): Promise<void> {
    const { shape } = this.#options
    const { timer, controller } = this.#parts
    const users = new Set<number>()
    let session = 0
    const play = async (user: number): Promise<void> => {
      users.add(user)
      while (this.#isWanted(user)) {
        const isOpened = await this.#play(timer.now(), session++)
        if (!isOpened) await timer.until(timer.now() + RETRY_MS) // a server that refuses everything is not flooded
      }
      users.delete(user)
    }
    while (timer.now() < this.#began + shape.duration && controller.status !== 'stopped') {
      const level = this.#usersAt(timer.now() - this.#began)
      for (let user = 0; user < level; user++) if (!users.has(user)) void play(user)
      await timer.until(Math.min(timer.now() + LEVEL_CHECK_MS, this.#began + shape.duration))
    }
  }

  #isWanted(user: number): boolean {
    const { shape } = this.#options
    const { timer, controller } = this.#parts
    const time = timer.now() - this.#began
    return controller.status !== 'stopped' && time < shape.duration && user < this.#usersAt(time)
  }

  /** The number of users of this thread or machine. */
  #usersAt(time: number): number {
    const { index, of } = this.#part
    return Math.floor((Math.round(levelAt(this.#options.shape, time)) + of - 1 - index) / of)
  }

  get #part(): { readonly index: number; readonly of: number } {
    return this.#options.part ?? { index: 0, of: 1 }
  }

  /** Plays a session. Resolves to false if it could not be opened. */
  #play(intendedStart: number, session: number): Promise<boolean> {
    const played = this.#options.countsWholeSessions
      ? this.#playWhole(intendedStart, session)
      : this.#playOne(intendedStart, session, () => this.#interval)
    const settled = played.then(() => void this.#sessions.delete(settled))
    this.#sessions.add(settled)
    return played
  }

  /** Nothing of the session is counted before it is over. */
  async #playWhole(intendedStart: number, session: number): Promise<boolean> {
    const totals = new SessionTotals()
    const isOpened = await this.#playOne(intendedStart, session, () => totals)
    totals.addTo(this.#interval)
    this.#ended.push(session)
    return isOpened
  }

  async #playOne(
    intendedStart: number,
    session: number,
    totals: () => Pick<LoadTotals, 'add' | SessionCount>,
  ): Promise<boolean> {
    const { maxSessions = Infinity } = this.#options
    const { controller, expected } = this.#parts
    totals().sessionsStarted++
    if (this.#open >= maxSessions) {
      this.#waited++
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#open++
    this.#mostOpen = Math.max(this.#mostOpen, this.#open)
    const { index, of } = this.#part
    const { scenario, open } = this.#pick(session * of + index)
    try {
      if (controller.status === 'stopped') {
        totals().sessionsCut++
        return false
      }
      const end = await playSession(scenario, intendedStart, {
        ...userContext(this.#options, this.#parts),
        open,
        expected: ({ label, recorded }) => expected.get(label) ?? recorded,
        onCall: (label, call) => totals().add(label, call),
      })
      totals()[end === 'done' ? 'sessionsDone' : 'sessionsCut']++
      return true
    } catch (error) {
      if (controller.status === 'stopped') totals().sessionsCut++
      else this.#fail(error, totals())
      return false
    } finally {
      this.#open--
      this.#waiting.shift()?.()
    }
  }

  #fail(error: unknown, totals: Pick<LoadTotals, 'add' | SessionCount>): void {
    totals.sessionsFailed++
    totals.add(HANDSHAKE_LABEL, { outcome: 'lost', service: 0, response: 0, lag: 0 })
    const why = error instanceof Error ? error.message : String(error)
    if (this.#failures.length < MAX_FAILURES && !this.#failures.includes(why)) this.#failures.push(why)
  }

  #closeInterval(): void {
    const totals = this.#interval
    this.#interval = new LoadTotals()
    this.#totals.merge(totals)
    const at = this.#parts.timer.now() - this.#began
    const level = levelAt(this.#options.shape, at)
    const ended = this.#ended
    this.#ended = []
    const { onInterval, countsWholeSessions } = this.#options
    onInterval?.({ at, level, open: this.#open, totals, ...(countsWholeSessions && { ended }) })
  }
}

const INTERVAL_MS = 1000
const LEVEL_CHECK_MS = 100
const RETRY_MS = 100

/** What one session measures, until it is over. */
class SessionTotals {
  readonly #calls: (readonly [label: string, call: CallMeasurement])[] = []
  sessionsStarted = 0
  sessionsDone = 0
  sessionsCut = 0
  sessionsFailed = 0

  add(label: string, call: CallMeasurement): void {
    this.#calls.push([label, call])
  }

  addTo(totals: LoadTotals): void {
    for (const [label, call] of this.#calls) totals.add(label, call)
    for (const name of SESSION_COUNTS) totals[name] += this[name]
  }
}

function sessionsOver({ next, beyond }: PartProgress): (session: number) => boolean {
  const others = new Set(beyond)
  return (session) => session < next || others.has(session)
}

/** The choice depends on the number of the session only, so that it is the same however many machines share the run. */
function weightedChoice(
  scenarios: readonly WeightedScenario[],
  seed: number,
): (session: number) => WeightedScenario {
  const [only] = scenarios
  if (only === undefined) throw new ReelayError('USAGE', 'there is no tape to play', { hint: 'name a tape' })
  if (scenarios.length === 1) return () => only
  const sum = scenarios.reduce((before, { weight }) => before + weight, 0)
  return (session) => {
    let left = seededRandom(Math.imul(seed + session, SPREAD))() * sum
    return scenarios.find(({ weight }) => (left -= weight) < 0) ?? only
  }
}

/** Neighbouring seeds would give similar numbers. */
const SPREAD = 0x9e3779b1

function mergeCounts(maps: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>()
  for (const map of maps) for (const [key, count] of map) sum.set(key, (sum.get(key) ?? 0) + count)
  return sum
}
