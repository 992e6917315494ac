import { performance } from 'node:perf_hooks'
import { ReelayError } from '../errors.ts'
import { Histogram } from '../histogram.ts'
import { ReplayController } from '../replay/control/controller.ts'
import { DEFAULT_START_TIMEOUT, DEFAULT_TIMEOUT, type ReplayTarget } from '../replay/options.ts'
import { type ReplayedTape, selectServerPart } from '../replay/plan/server-part.ts'
import { toolsOnTape, type WritePermission } from '../replay/plan/tool-safety.ts'
import { EarlyRequests } from '../replay/send/early-requests.ts'
import { liveSecrets, type LiveSecrets, withLiveSecrets } from '../replay/session/live-secrets.ts'
import { Peer } from '../replay/session/peer.ts'
import { bindingsOfPart } from '../replay/values/tape-bindings.ts'
import { DEFAULT_SEED, seededRandom } from '../seeded-random.ts'
import { LoadTotals } from './measurements.ts'
import { PreciseTimer } from './precise-timer.ts'
import { arrivalTimes, levelAt, type LoadShape } from './shape.ts'
import {
  createScenario,
  HANDSHAKE_LABEL,
  playSession,
  type Scenario,
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
  /** Called when everything is prepared; the run begins when it resolves. */
  readonly beforeStart?: () => Promise<void>
  readonly server?: string
  readonly timeout?: number
  readonly startTimeout?: number
  /** The values behind the placeholders of redacted tapes; by default they come from the environment. */
  readonly secrets?: LiveSecrets
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
  const controller = new ReplayController()
  controller.start()
  if (options.signal?.aborted === true) controller.stop()
  options.signal?.addEventListener('abort', () => controller.stop(), { once: true })
  const timer = new PreciseTimer()
  try {
    const scenarios = await Promise.all(tapes.map((each) => prepare(each, options, controller)))
    const expected = options.expected ?? (await calibrate(scenarios, options, { controller, timer }))
    await options.beforeStart?.()
    return await new LoadRun(scenarios, options, { controller, timer, expected }).run()
  } finally {
    await timer.close()
  }
}

/** Plays each session a few times on its own. Returns the expected response times for several runs of `load` that share them. */
export async function calibrateLoad(
  tapes: readonly LoadTape[],
  options: LoadOptions,
): Promise<ReadonlyMap<string, number>> {
  const controller = new ReplayController()
  controller.start()
  options.signal?.addEventListener('abort', () => controller.stop(), { once: true })
  const timer = new PreciseTimer()
  try {
    const scenarios = await Promise.all(tapes.map((each) => prepare(each, options, controller)))
    return await calibrate(scenarios, options, { controller, timer })
  } finally {
    await timer.close()
  }
}

interface WeightedScenario {
  readonly scenario: Scenario
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
  const secrets = options.secrets ?? liveSecrets(tape.header)
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
      peer.tools([], new EarlyRequests({ timeout, keepsIds: false })),
      bindingsOfPart(part, tape),
    ])
    const known = tools.size === 0 ? toolsOnTape(part) : tools
    const scenario = createScenario(tape.path, part, found, { permission: options, tools: known })
    if (scenario.messages.length === 0) throw nothingToSend(scenario)
    return { scenario, weight, open }
  } finally {
    await peer.close()
  }
}

function nothingToSend({ name, heldBack }: Scenario): ReelayError {
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
  readonly timer: PreciseTimer
}

/** Plays each session a few times on its own. Returns the median response time of each tool and method. */
async function calibrate(
  scenarios: readonly WeightedScenario[],
  { calibrate: runs = 3, ...options }: LoadOptions,
  { controller, timer }: RunParts,
): Promise<ReadonlyMap<string, number>> {
  const service = new Map<string, Histogram>()
  for (const { scenario, open } of scenarios)
    for (let run = 0; run < runs && controller.status === 'running'; run++)
      await playSession(scenario, timer.now(), {
        ...userContext(options, { controller, timer }),
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
  { timeout = DEFAULT_TIMEOUT, startTimeout = DEFAULT_START_TIMEOUT, thinkFactor = 1 }: Partial<LoadOptions>,
  { controller, timer }: RunParts,
): Omit<UserContext, 'open' | 'expected' | 'onCall'> {
  return { timeout, startTimeout, thinkFactor, controller, timer }
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
  readonly #pick: () => WeightedScenario
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
    this.#pick = weightedChoice(
      scenarios,
      seededRandom((options.seed ?? DEFAULT_SEED) + (options.part?.index ?? 0)),
    )
  }

  async run(): Promise<LoadResult> {
    const { model, shape, grace = DEFAULT_GRACE } = this.#options
    const { timer, controller, expected } = this.#parts
    this.#began = timer.now()
    const busyBefore = performance.eventLoopUtilization()
    const ticks = setInterval(() => this.#closeInterval(), INTERVAL_MS)
    await (model === 'open' ? this.#startAtRate() : this.#startUsers())
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
  async #startAtRate(): Promise<void> {
    const { shape, arrivals, seed = DEFAULT_SEED } = this.#options
    const { timer, controller } = this.#parts
    const random = arrivals === 'random' ? seededRandom(seed + 1) : undefined
    const { index, of } = this.#part
    let arrival = 0
    for (const at of arrivalTimes(shape, random)) {
      if (arrival++ % of !== index) continue // another thread or machine starts it
      const start = this.#began + at
      if (start > timer.now()) await timer.until(start)
      if (controller.status === 'stopped') return
      void this.#play(start)
    }
    await timer.until(this.#began + shape.duration)
  }

  /** The closed model: as many users as the shape asks for, each with one session after the other. */
  async #startUsers(): Promise<void> {
    const { shape } = this.#options
    const { timer, controller } = this.#parts
    const users = new Set<number>()
    const play = async (user: number): Promise<void> => {
      users.add(user)
      while (this.#isWanted(user)) {
        const isOpened = await this.#play(timer.now())
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
  #play(intendedStart: number): Promise<boolean> {
    const session = this.#playOne(intendedStart)
    const settled = session.then(() => void this.#sessions.delete(settled))
    this.#sessions.add(settled)
    return session
  }

  async #playOne(intendedStart: number): Promise<boolean> {
    const { maxSessions = Infinity } = this.#options
    const { controller, timer, expected } = this.#parts
    this.#interval.sessionsStarted++
    if (this.#open >= maxSessions) {
      this.#waited++
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    this.#open++
    this.#mostOpen = Math.max(this.#mostOpen, this.#open)
    const { scenario, open } = this.#pick()
    try {
      if (controller.status === 'stopped') {
        this.#interval.sessionsCut++
        return false
      }
      const end = await playSession(scenario, intendedStart, {
        ...userContext(this.#options, { controller, timer }),
        open,
        expected: ({ label, recorded }) => expected.get(label) ?? recorded,
        onCall: (label, call) => this.#interval.add(label, call),
      })
      this.#interval[end === 'done' ? 'sessionsDone' : 'sessionsCut']++
      return true
    } catch (error) {
      if (controller.status === 'stopped') this.#interval.sessionsCut++
      else this.#fail(error)
      return false
    } finally {
      this.#open--
      this.#waiting.shift()?.()
    }
  }

  #fail(error: unknown): void {
    this.#interval.sessionsFailed++
    this.#interval.add(HANDSHAKE_LABEL, { outcome: 'lost', service: 0, response: 0, lag: 0 })
    const why = error instanceof Error ? error.message : String(error)
    if (this.#failures.length < MAX_FAILURES && !this.#failures.includes(why)) this.#failures.push(why)
  }

  #closeInterval(): void {
    const totals = this.#interval
    this.#interval = new LoadTotals()
    this.#totals.merge(totals)
    const at = this.#parts.timer.now() - this.#began
    const level = levelAt(this.#options.shape, at)
    this.#options.onInterval?.({ at, level, open: this.#open, totals })
  }
}

const INTERVAL_MS = 1000
const LEVEL_CHECK_MS = 100
const RETRY_MS = 100

function weightedChoice(
  scenarios: readonly WeightedScenario[],
  random: () => number,
): () => WeightedScenario {
  const [only] = scenarios
  if (only === undefined) throw new ReelayError('USAGE', 'there is no tape to play', { hint: 'name a tape' })
  if (scenarios.length === 1) return () => only
  const sum = scenarios.reduce((before, { weight }) => before + weight, 0)
  return () => {
    let left = random() * sum
    return scenarios.find(({ weight }) => (left -= weight) < 0) ?? only
  }
}

function mergeCounts(maps: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const sum = new Map<string, number>()
  for (const map of maps) for (const [key, count] of map) sum.set(key, (sum.get(key) ?? 0) + count)
  return sum
}
