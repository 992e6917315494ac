import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Queue } from 'bullmq'
import { ReelayError } from '../../errors.ts'
import { parseJson } from '../../json/parse.ts'
import { VERSION } from '../../version.ts'
import type { LoadInterval, LoadResult, PartProgress } from '../load.ts'
import { LoadTotals } from '../measurements.ts'
import { highestLevel } from '../shape.ts'
import { decodeTotals } from '../threads.ts'
import {
  type ControlMessage,
  isWorkerInfo,
  type PartFacts,
  type PartJob,
  readWorkerMessage,
  type RunPlan,
  type WorkerInfo,
  type WorkerMessage,
} from './messages.ts'
import { connectRedis, REDIS_KEYS, type WorkerRedis } from './redis.ts'
import { sendTape, type TapeToSend } from './sent-tapes.ts'

/** Options of `loadWithWorkers`. */
export interface WorkersOptions extends Pick<RunPlan, 'url' | 'sse' | 'options'> {
  readonly redis: URL
  /** The run begins when so many workers are there; by default 1. */
  readonly expectWorkers?: number
  readonly tapes: readonly TapeToSend[]
  readonly signal: AbortSignal
  readonly onInterval: (interval: LoadInterval) => void
  /** Called with what the user should know while the run goes on. */
  readonly onNote: (note: string) => void
}

/** What happened on the machines of a run. */
export interface WorkersSummary {
  readonly workers: readonly string[]
  /** Parts that another worker had to take over. */
  readonly takeovers: readonly Takeover[]
  /** What is missing in the figures, in sentences; empty if nothing is. */
  readonly missing: readonly string[]
  /** Messages that arrived twice or after their worker had been replaced. They are not in the figures. */
  readonly ignored: number
  /** Bytes that workers have sent through Redis. */
  readonly bytes: number
}

interface Takeover {
  readonly part: number
  readonly from: string
  readonly to: string
  /** Milliseconds of the run, and how long nobody played the part. */
  readonly at: number
  readonly gap: number
}

export interface WorkersResult extends LoadResult {
  readonly workers: WorkersSummary
}

/** Plays a run on other machines, and adds up what they measure. */
export async function loadWithWorkers(options: WorkersOptions): Promise<WorkersResult> {
  const { onNote } = options
  let run: WorkersRun | undefined
  const redis = await connectRedis(options.redis, {
    onState: (state, why) => {
      if (state === 'back') {
        run?.redisIsBack()
        return
      }
      run?.redisIsLost()
      onNote(
        `Redis cannot be reached${why === '' ? '' : ` (${why})`}: the workers go on, and send their figures when it is back`,
      )
    },
  })
  try {
    run = new WorkersRun(redis, options)
    return await run.run()
  } finally {
    await run?.close()
    redis.close()
  }
}

const LEASE_MS = 10_000
const LEASE_EVERY_MS = 2000
/** A worker that was not seen for this long is gone. */
const WORKER_GONE_MS = 5000
const WAIT_FOR_WORKERS_MS = 60_000
const PREPARE_MS = 60_000
/** Workers need this long to hear of the start. */
const START_DELAY_MS = 1000
/** A part that sends nothing for this long is given to another attempt, if one is ready. */
const SILENT_MS = 2500
/** If none is ready, the job is put into the queue again. */
const LOST_JOB_MS = 6000
/** After this, the run ends without the part; earlier if no worker is left. */
const GIVE_UP_MS = 45_000
const NO_WORKERS_MS = 12_000
const STOP_MS = 800
const LEVEL_PER_PART = 100

/** One run: its parts are jobs, and its figures come back in a stream. */
class WorkersRun {
  readonly #redis: WorkerRedis
  readonly #options: WorkersOptions
  readonly #queue: Queue
  readonly #id = randomBytes(8).toString('hex')
  readonly #closing = new AbortController()
  readonly #workers = new Set<string>()
  readonly #takeovers: Takeover[] = []
  readonly #missing: string[] = []
  readonly #changed = new Signal()
  #parts: readonly Part[] = []
  #intervals: OrderedIntervals | undefined
  #expected: PartJob['expected'] | undefined
  #failure: ReelayError | undefined
  #jobs = 0
  #began: number | undefined
  #ignored = 0
  #bytes = 0
  #lostAt: number | undefined
  #hasRunLock = false

  constructor(redis: WorkerRedis, options: WorkersOptions) {
    this.#redis = redis
    this.#options = options
    this.#queue = new redis.bull.Queue(REDIS_KEYS.queue, {
      connection: redis.client,
      prefix: REDIS_KEYS.prefix,
    })
    this.#queue.on('error', () => {}) // the connection reports it
  }

  async run(): Promise<WorkersResult> {
    const { signal, onNote } = this.#options
    signal.addEventListener('abort', () => this.#changed.emit(), { once: true })
    await this.#lock()
    await this.#clean()
    void this.#readResults()
    const workers = await this.#waitForWorkers()
    const plan = await this.#plan()
    if (this.#options.options.calibrate !== 0) {
      const expected = await this.#calibrate(plan)
      if (expected === undefined) return this.#result()
      this.#expected = expected
    }
    const perWorker = partsPerWorker(workers, highestLevel(this.#options.options.shape))
    const count = workers.length * perWorker
    this.#parts = Array.from({ length: count }, (_, index) => new Part(index))
    this.#intervals = new OrderedIntervals(this.#parts, this.#options.onInterval)
    for (const { index } of this.#parts) await this.#addJob(plan, { index, of: count, perWorker })
    if (await this.#allReady()) {
      await this.#start()
      onNote(
        `started ${count} ${count === 1 ? 'part' : 'parts'} on ${workers.length} ${workers.length === 1 ? 'worker' : 'workers'}`,
      )
      await this.#watch(plan, perWorker)
    }
    return this.#result()
  }

  /** Several runs at once would wait for each other's workers. */
  async #lock(): Promise<void> {
    const { client, name } = this.#redis
    const text = JSON.stringify({ id: this.#id, since: new Date().toISOString() })
    if ((await client.set(REDIS_KEYS.run, text, 'PX', LEASE_MS, 'NX')) === null)
      throw new ReelayError('WORKERS_FAILED', `another run uses the workers of ${name}`, {
        hint: 'wait until it is over, or use another database of Redis, such as redis://host/1, for it and its workers',
      })
    this.#hasRunLock = true
    const renew = setInterval(() => {
      if (this.#lostAt === undefined) void client.set(REDIS_KEYS.run, text, 'PX', LEASE_MS).catch(() => {})
    }, LEASE_EVERY_MS)
    this.#closing.signal.addEventListener('abort', () => clearInterval(renew))
  }

  /** Removes what a run has left whose coordinator was killed. */
  async #clean(): Promise<void> {
    await this.#queue.obliterate({ force: true })
    await this.#redis.client.del(REDIS_KEYS.results, REDIS_KEYS.control)
  }

  async #liveWorkers(): Promise<readonly WorkerInfo[]> {
    const all = Object.values(await this.#redis.client.hgetall(REDIS_KEYS.workers)).map((text) =>
      parseJson(text),
    )
    return all.filter(isWorkerInfo).filter(({ seen }) => this.#redis.now() - seen < WORKER_GONE_MS)
  }

  async #waitForWorkers(): Promise<readonly WorkerInfo[]> {
    const { expectWorkers = 1, onNote, signal } = this.#options
    const { name } = this.#redis
    const until = Date.now() + WAIT_FOR_WORKERS_MS
    let shown = -1
    for (;;) {
      const workers = await this.#liveWorkers()
      const other = workers.find(({ reelay }) => reelay !== VERSION)
      if (other !== undefined)
        throw new ReelayError(
          'WORKERS_FAILED',
          `the worker ${other.name} is reelay ${other.reelay}, and this is ${VERSION}`,
          {
            hint: 'install the same version everywhere',
          },
        )
      if (workers.length >= expectWorkers) return workers
      if (signal.aborted || Date.now() > until)
        throw new ReelayError('WORKERS_FAILED', `${workers.length} of ${expectWorkers} workers are there`, {
          hint: `start each with: reelay worker ${name}`,
        })
      if (workers.length !== shown)
        onNote(`waiting for workers at ${name}: ${workers.length} of ${expectWorkers}`)
      shown = workers.length
      await this.#changed.wait(200)
    }
  }

  async #plan(): Promise<RunPlan> {
    const { tapes, url, sse, options } = this.#options
    const sent = []
    for (const tape of tapes) sent.push(await sendTape(this.#redis, tape))
    return { reelay: VERSION, id: this.#id, tapes: sent, ...(url && { url }), ...(sse && { sse }), options }
  }

  /** One worker plays each session on its own. Returns `undefined` if the user stops the run. */
  async #calibrate(plan: RunPlan): Promise<PartJob['expected'] | undefined> {
    const calibration = { index: 0, of: 1, perWorker: 1 }
    await this.#addJob(plan, { ...calibration, isCalibration: true })
    const until = Date.now() + PREPARE_MS * 5
    while (this.#expected === undefined) {
      this.#throwFailure()
      if (this.#options.signal.aborted) return undefined
      if (Date.now() > until) throw notReady('no worker has played the calibration')
      await this.#changed.wait(500)
    }
    return this.#expected
  }

  async #addJob(
    plan: RunPlan,
    {
      isCalibration = false,
      perWorker,
      ...part
    }: PartJob['part'] & { perWorker: number; isCalibration?: boolean },
  ): Promise<void> {
    const job: PartJob = { plan, part, isCalibration, expected: this.#expected ?? [], perWorker }
    await this.#queue.add('part', job, {
      jobId: `${this.#id}-${isCalibration ? 'calibration' : part.index}-${this.#jobs++}`,
      attempts: 1000,
      removeOnComplete: true,
      removeOnFail: true,
    })
  }

  async #allReady(): Promise<boolean> {
    const until = Date.now() + PREPARE_MS
    for (;;) {
      this.#throwFailure()
      if (this.#options.signal.aborted) return false
      const waiting = this.#parts.filter(({ attempt }) => attempt === undefined)
      if (waiting.length === 0) return true
      if (Date.now() > until)
        throw notReady(`${waiting.length} of ${this.#parts.length} parts are not prepared`)
      await this.#changed.wait(500)
    }
  }

  async #start(): Promise<void> {
    const at = this.#redis.now() + START_DELAY_MS
    this.#began = at
    for (const part of this.#parts) part.heard = at
    await this.#tell({ kind: 'start', at, attempts: this.#parts.map(({ attempt = '' }) => attempt) })
  }

  async #tell(message: ControlMessage): Promise<void> {
    await this.#redis.client.xadd(
      REDIS_KEYS.control,
      'MAXLEN',
      '~',
      10_000,
      '*',
      'm',
      JSON.stringify(message),
    )
  }

  /** Reads what the workers report, in order, and removes it from Redis. */
  async #readResults(): Promise<void> {
    const { client, duplicate } = this.#redis
    const reader = duplicate()
    let last = '0'
    while (!this.#closing.signal.aborted) {
      try {
        const found = await reader.xread('COUNT', 500, 'BLOCK', 1000, 'STREAMS', REDIS_KEYS.results, last)
        const entries = found?.[0]?.[1] ?? []
        for (const [id, fields] of entries) {
          last = id
          this.#bytes += fields[1]?.length ?? 0
          const message = readWorkerMessage(fields)
          if (message !== undefined) this.#take(message)
        }
        if (entries.length > 0) await client.xtrim(REDIS_KEYS.results, 'MINID', nextId(last))
      } catch {
        if (!this.#closing.signal.aborted) await delay(200)
      }
    }
  }

  #take(message: WorkerMessage): void {
    const { part: index, attempt, worker } = message
    this.#changed.emit()
    if (message.kind === 'failed') {
      this.#failure ??= new ReelayError('TARGET_REFUSED', `worker ${worker}: ${message.message}`, {
        hint: message.hint ?? '',
      })
      return
    }
    if (message.kind === 'calibrated') return void (this.#expected ??= message.expected)
    const part = this.#parts[index]
    if (part === undefined) return
    if (message.kind === 'ready') return this.#takeReady(part, attempt, worker)
    if (part.attempt !== attempt || part.isDone) return void this.#ignored++
    part.heard = this.#redis.now()
    if (message.kind === 'done') {
      part.finish(message.facts, message.intervals)
      this.#workers.add(worker)
      return
    }
    const interval = decodeTotals(message.interval)
    if (!part.add(message.seq, interval)) return void this.#ignored++
    this.#workers.add(worker)
    this.#intervals?.add(interval)
  }

  /** The first attempt at a part plays it. A further one waits until that one is silent. */
  #takeReady(part: Part, attempt: string, worker: string): void {
    if (part.isDone) return void this.#tell({ kind: 'part-over', part: part.index }).catch(() => {})
    if (part.attempt === attempt) return
    part.standby.push({ attempt, worker })
    if (part.attempt === undefined || this.#began === undefined) part.use(part.standby.pop()!)
    else this.#replaceIfSilent(part)
  }

  /** Gives a part to the attempt that waits for it, if its worker is silent. */
  #replaceIfSilent(part: Part): void {
    const now = this.#redis.now()
    if (this.#lostAt !== undefined || part.isDone || now - part.heard < SILENT_MS) return
    const next = part.standby.pop()
    if (next === undefined) return
    const from = part.worker
    const at = Math.max(0, part.heard - (this.#began ?? now))
    this.#takeovers.push({ part: part.index, from, to: next.worker, at, gap: now - part.heard })
    this.#options.onNote(
      `worker ${from} was lost: ${next.worker} goes on with its part after ${((now - part.heard) / 1000).toFixed(1)} s`,
    )
    if (this.#options.options.model === 'closed' && part.open > 0)
      this.#missing.push(`up to ${part.open} sessions that were open when worker ${from} was lost`)
    part.use(next)
    part.heard = now
    const { progress } = part
    void this.#tell({ kind: 'resume', part: part.index, attempt: next.attempt, progress }).catch(() => {})
  }

  redisIsLost(): void {
    this.#lostAt ??= this.#redis.now()
  }

  /** What workers have kept arrives first, so that none of them seems to be silent. */
  redisIsBack(): void {
    if (this.#lostAt === undefined) return
    this.#options.onNote(`Redis is back after ${((this.#redis.now() - this.#lostAt) / 1000).toFixed(1)} s`)
    this.#lostAt = undefined
    for (const part of this.#parts) part.heard = this.#redis.now()
  }

  /** Waits for the end of all parts. */
  async #watch(plan: RunPlan, perWorker: number): Promise<void> {
    const { signal, onNote } = this.#options
    let stopBy = Infinity
    while (this.#parts.some(({ isDone }) => !isDone)) {
      this.#throwFailure()
      if (signal.aborted && stopBy === Infinity) {
        stopBy = Date.now() + STOP_MS
        void this.#tell({ kind: 'stop' }).catch(() => {})
      }
      if (Date.now() > stopBy) break
      if (this.#lostAt !== undefined) {
        if (this.#redis.now() - this.#lostAt > GIVE_UP_MS) break
      } else if (!(await this.#keepPlaying(plan, perWorker))) break
      await this.#changed.wait(Math.min(250, Math.max(1, stopBy - Date.now())))
    }
    for (const part of this.#parts) {
      if (part.isDone && part.lost > 0) this.#missing.push(`${part.lost} s of part ${part.index + 1}`)
      if (!part.isDone)
        this.#missing.push(
          `part ${part.index + 1} of ${this.#parts.length} from ${(part.progress.until / 1000).toFixed(0)} s on, because worker ${part.worker} was lost`,
        )
    }
    for (const missing of this.#missing) onNote(`the figures do not contain ${missing}`)
  }

  /** Finds another worker for parts that are silent. Returns false if there is none. */
  async #keepPlaying(plan: RunPlan, perWorker: number): Promise<boolean> {
    for (const part of this.#parts) {
      this.#replaceIfSilent(part)
      const silent = this.#redis.now() - Math.max(part.heard, part.requeued)
      if (part.isDone || silent < LOST_JOB_MS) continue
      const unheard = this.#redis.now() - part.heard
      if (unheard > GIVE_UP_MS) return false
      if (unheard > NO_WORKERS_MS && (await this.#liveWorkers().catch(() => undefined))?.length === 0)
        return false
      part.requeued = this.#redis.now()
      await this.#addJob(plan, { index: part.index, of: this.#parts.length, perWorker }).catch(() => {})
    }
    return true
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  #result(): WorkersResult {
    this.#intervals?.flush()
    const totals = new LoadTotals()
    for (const part of this.#parts) totals.merge(part.totals)
    const facts = this.#parts.flatMap(({ facts: each }) => (each === undefined ? [] : [each]))
    const expected = new Map(this.#expected)
    return {
      totals,
      duration: Math.max(
        0,
        ...this.#parts.map(({ facts: each, progress }) => each?.duration ?? progress.until),
      ),
      wasStopped: this.#options.signal.aborted || facts.some(({ wasStopped }) => wasStopped),
      expected,
      expectedFrom: expected.size > 0 ? 'calibration' : 'recording',
      generator: {
        busy: Math.max(0, ...facts.map(({ generator }) => generator.busy)),
        waited: facts.reduce((sum, { generator }) => sum + generator.waited, 0),
      },
      heldBack: new Map(facts[0]?.heldBack),
      failures: [...new Set(facts.flatMap(({ failures }) => failures))].slice(0, 5),
      mostOpen: facts.reduce((sum, { mostOpen }) => sum + mostOpen, 0),
      workers: {
        workers: [...this.#workers],
        takeovers: this.#takeovers,
        missing: this.#missing,
        ignored: this.#ignored,
        bytes: this.#bytes,
      },
    }
  }

  /** Tells the workers that the run is over. */
  async close(): Promise<void> {
    this.#closing.abort()
    if (!this.#hasRunLock || this.#lostAt !== undefined) return
    const goodbye = async (): Promise<void> => {
      await this.#tell({ kind: 'over' })
      await this.#queue.obliterate({ force: true })
      await this.#redis.client.del(REDIS_KEYS.run, REDIS_KEYS.results)
    }
    await Promise.race([goodbye().catch(() => {}), delay(1000, undefined, { ref: false })])
  }
}

function notReady(why: string): ReelayError {
  return new ReelayError('WORKERS_FAILED', why, { hint: 'look at the output of the workers' })
}

/** The id after this one, so that everything up to it is removed. */
function nextId(id: string): string {
  const [time = '0', count = '0'] = id.split('-')
  return `${time}-${Number(count) + 1}`
}

/** Every worker has the same number of parts: enough for the load, and at most as many as the weakest has cores for. */
function partsPerWorker(workers: readonly WorkerInfo[], level: number): number {
  const wanted = Math.ceil(level / LEVEL_PER_PART / workers.length)
  return Math.max(1, Math.min(wanted, ...workers.map(({ threads }) => threads)))
}

/** A part of the run, and what is known of it. */
class Part {
  readonly index: number
  readonly totals: LoadTotals = new LoadTotals()
  /** The attempt that plays it. */
  attempt: string | undefined
  worker = ''
  /** Attempts that wait until the current one is lost. */
  readonly standby: { readonly attempt: string; readonly worker: string }[] = []
  /** When something was heard of it, and when it was put into the queue again, by the clock of Redis. */
  heard = 0
  requeued = 0
  /** Sessions that were open in its last second. */
  open = 0
  facts: PartFacts | undefined
  lost = 0
  #seen = new NumberSet()
  readonly #sessions = new NumberSet()
  #until = 0

  constructor(index: number) {
    this.index = index
  }

  get isDone(): boolean {
    return this.facts !== undefined
  }

  get progress(): PartProgress {
    return { until: this.#until, ...this.#sessions.content }
  }

  use({ attempt, worker }: { readonly attempt: string; readonly worker: string }): void {
    this.attempt = attempt
    this.worker = worker
    this.#seen = new NumberSet()
  }

  /** Adds a second, unless it is known. */
  add(seq: number, { at, totals, open, ended = [] }: LoadInterval): boolean {
    if (!this.#seen.add(seq)) return false
    this.totals.merge(totals)
    this.open = open
    this.#until = Math.max(this.#until, at)
    for (const session of ended) this.#sessions.add(session)
    return true
  }

  finish(facts: PartFacts, intervals: number): void {
    this.facts = facts
    this.lost = intervals - this.#seen.size
  }
}

/** Whole numbers, most of which come in order. */
class NumberSet {
  #next = 0
  readonly #beyond = new Set<number>()

  get content(): { readonly next: number; readonly beyond: readonly number[] } {
    return { next: this.#next, beyond: [...this.#beyond] }
  }

  get size(): number {
    return this.#next + this.#beyond.size
  }

  /** Returns false if the number was there. */
  add(number: number): boolean {
    if (number < this.#next || this.#beyond.has(number)) return false
    this.#beyond.add(number)
    while (this.#beyond.delete(this.#next)) this.#next++
    return true
  }
}

/** Adds up the same second of all parts. A part that is late is added to the second that is reported next. */
class OrderedIntervals {
  readonly #parts: readonly Part[]
  readonly #onInterval: (interval: LoadInterval) => void
  readonly #waiting = new Map<number, LoadInterval[]>()
  #next = 1

  constructor(parts: readonly Part[], onInterval: (interval: LoadInterval) => void) {
    this.#parts = parts
    this.#onInterval = onInterval
  }

  add(interval: LoadInterval): void {
    const second = Math.max(this.#next, Math.round(interval.at / 1000))
    const same = this.#waiting.get(second) ?? []
    same.push(interval)
    this.#waiting.set(second, same)
    const newest = Math.max(...this.#waiting.keys())
    const isFull = (): boolean => (this.#waiting.get(this.#next)?.length ?? 0) >= this.#parts.length
    while (this.#next <= newest && (isFull() || newest - this.#next >= LATE_SECONDS)) this.#report()
  }

  flush(): void {
    while (this.#waiting.size > 0) this.#report()
  }

  #report(): void {
    const all = this.#waiting.get(this.#next) ?? []
    this.#waiting.delete(this.#next)
    const at = this.#next++ * 1000
    if (all.length === 0) return
    const totals = new LoadTotals()
    for (const each of all) totals.merge(each.totals)
    const open = all.reduce((sum, each) => sum + each.open, 0)
    this.#onInterval({ at, level: all[0]?.level ?? 0, open, totals })
  }
}

const LATE_SECONDS = 3

/** Lets one flow wait until another has changed something. */
class Signal {
  #resolve: () => void = () => {}

  emit(): void {
    this.#resolve()
  }

  wait(most: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, most)
      this.#resolve = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
