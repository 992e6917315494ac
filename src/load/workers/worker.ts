import { mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Worker } from 'bullmq'
import { errorMessage, ReelayError } from '../../errors.ts'
import { VERSION } from '../../version.ts'
import type { LoadResult, PartStart } from '../load.ts'
import { LoadThread } from '../threads.ts'
import {
  type ControlMessage,
  isPartJob,
  type PartFacts,
  type PartJob,
  readControlMessage,
  type RunPlan,
  type WorkerInfo,
  type WorkerMessage,
} from './messages.ts'
import { connectRedis, REDIS_KEYS, type WorkerRedis } from './redis.ts'
import { receiveTape } from './sent-tapes.ts'

/** Options of `runWorker`. */
export interface WorkerOptions {
  readonly redis: URL
  /** The number of parts that this machine can play at once. */
  readonly threads: number
  /** Ends after one run. */
  readonly once: boolean
  /** Throws if this worker must not play the run, for example because of its URL. */
  readonly check: (plan: RunPlan) => void
  readonly signal: AbortSignal
  readonly onNote: (note: string) => void
}

/** What a thread of a worker needs to play a part: the plan, and where the tapes are now. */
export interface ReceivedRun {
  readonly plan: RunPlan
  readonly tapes: readonly { readonly path: string; readonly weight: number }[]
  readonly isCalibration: boolean
}

/** Plays parts of the runs of a coordinator until it is told to end. */
export async function runWorker(options: WorkerOptions): Promise<void> {
  const { onNote } = options
  const folder = mkdtempSync(join(tmpdir(), 'reelay-worker-'))
  let player: PartPlayer | undefined
  const redis = await connectRedis(options.redis, {
    onState: (state, why) => {
      onNote(
        state === 'back'
          ? 'Redis is back'
          : `Redis cannot be reached${why === '' ? '' : ` (${why})`}: trying again`,
      )
      if (state === 'back') player?.sendAgain()
    },
  })
  try {
    player = new PartPlayer(redis, options, folder)
    await player.run()
  } finally {
    await player?.close()
    redis.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A lock is renewed twice in this time. If its worker is lost, another one takes the part over after it. */
const LOCK_MS = 3000
const STALLED_CHECK_MS = 1000
const SEEN_EVERY_MS = 1000
/** A run whose coordinator was not heard of for this long is over. */
const COORDINATOR_GONE_MS = 10_000
/** Every worker gets its parts before one takes those of others. */
const SPARE_AFTER_MS = 3000

class PartPlayer {
  readonly #redis: WorkerRedis
  readonly #options: WorkerOptions
  readonly #folder: string
  readonly #name = `${hostname()}-${process.pid}`
  readonly #attempts = new Map<string, Attempt>()
  readonly #slots: Worker[] = []
  readonly #over = new AbortController()
  #spare: Worker | undefined
  #count = 0
  #isClosing = false
  #run: string | undefined

  constructor(redis: WorkerRedis, options: WorkerOptions, folder: string) {
    this.#redis = redis
    this.#options = options
    this.#folder = folder
  }

  async run(): Promise<void> {
    const { signal, onNote, threads } = this.#options
    const seen = setInterval(() => void this.#announce().catch(() => {}), SEEN_EVERY_MS)
    try {
      await this.#announce()
      const other = await this.#redis.client.get(REDIS_KEYS.run)
      onNote(
        `worker ${this.#name} with ${threads} ${threads === 1 ? 'thread' : 'threads'} waits at ${this.#redis.name}` +
          (other === null ? '' : '; a run is under way: this worker takes part if another one is lost'),
      )
      void this.#readControl()
      this.#addSlot()
      await Promise.race([aborted(this.#over.signal), aborted(signal)])
    } finally {
      clearInterval(seen)
    }
  }

  async #announce(): Promise<void> {
    const info: WorkerInfo = {
      name: this.#name,
      threads: this.#options.threads,
      seen: this.#redis.now(),
      reelay: VERSION,
    }
    await this.#redis.client.hset(REDIS_KEYS.workers, this.#name, JSON.stringify(info))
  }

  /** A slot plays one part. */
  #addSlot(): void {
    this.#slots.push(this.#takeJobs(1))
  }

  #takeJobs(concurrency: number): Worker {
    const worker = new this.#redis.bull.Worker(REDIS_KEYS.queue, (job) => this.#play(job.data), {
      connection: this.#redis.client,
      prefix: REDIS_KEYS.prefix,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: 1000,
    })
    worker.on('error', () => {}) // such as a lock that was lost: the coordinator decides who plays the part
    return worker
  }

  async #play(job: unknown): Promise<void> {
    if (!isPartJob(job) || this.#isClosing) return
    const { plan, part, isCalibration, perWorker } = job
    this.#run = plan.id
    if (!isCalibration) {
      while (this.#slots.length < perWorker) this.#addSlot()
      this.#addSpareLater()
    }
    const attempt = new Attempt(this.#redis, job, `${this.#name}-${this.#count++}`, this.#name)
    this.#attempts.set(attempt.id, attempt)
    try {
      await attempt.play(async () => {
        this.#options.check(plan)
        const tapes = []
        for (const tape of plan.tapes)
          tapes.push({ path: await receiveTape(this.#redis, tape, this.#folder), weight: tape.weight })
        this.#options.onNote(
          isCalibration
            ? 'calibrating'
            : `plays part ${part.index + 1} of ${part.of}: ${plan.tapes.map(({ name }) => name).join(', ')}`,
        )
        return { plan, tapes, isCalibration }
      })
    } finally {
      this.#attempts.delete(attempt.id)
    }
    // BullMQ gives the job to another worker at once.
    if (this.#isClosing && !attempt.isOver) throw new Error('the worker ends')
  }

  #addSpareLater(): void {
    if (this.#spare !== undefined) return
    setTimeout(() => {
      if (this.#run !== undefined && !this.#isClosing) this.#spare ??= this.#takeJobs(MAX_SPARE)
    }, SPARE_AFTER_MS).unref()
  }

  /** Reads what the coordinator says. */
  async #readControl(): Promise<void> {
    const { client } = this.#redis
    const reader = this.#redis.duplicate()
    let [last, heard] = ['0', Date.now()]
    const [newest] = await client.xrevrange(REDIS_KEYS.control, '+', '-', 'COUNT', 1).catch(() => [])
    if (newest !== undefined) last = newest[0]
    while (!this.#isClosing) {
      try {
        const found = await reader.xread('COUNT', 100, 'BLOCK', 1000, 'STREAMS', REDIS_KEYS.control, last)
        for (const [id, fields] of found?.[0]?.[1] ?? []) {
          last = id
          const message = readControlMessage(fields)
          if (message !== undefined) this.#obey(message)
        }
        if (this.#run === undefined || (await client.get(REDIS_KEYS.run)) !== null) heard = Date.now()
        if (Date.now() - heard > COORDINATOR_GONE_MS) this.#endRun('the coordinator is gone: its run ends')
      } catch {
        await delay(200)
        heard = Date.now() // nothing can be said about the coordinator while Redis is gone
      }
    }
  }

  #obey(message: ControlMessage): void {
    for (const attempt of this.#attempts.values()) attempt.obey(message)
    if (message.kind === 'over') this.#endRun('the run is over')
  }

  #endRun(note: string): void {
    if (this.#run === undefined) return
    this.#run = undefined
    this.#options.onNote(note)
    for (const attempt of this.#attempts.values()) attempt.end()
    void this.#spare?.close(true).catch(() => {})
    this.#spare = undefined
    for (const slot of this.#slots.splice(1)) void slot.close(true).catch(() => {})
    if (this.#options.once) this.#over.abort()
  }

  /** What Redis may have lost is sent again. The coordinator counts it once. */
  sendAgain(): void {
    void this.#announce().catch(() => {})
    for (const attempt of this.#attempts.values()) attempt.sendAgain()
  }

  /** Leaves its parts to other workers. */
  async close(): Promise<void> {
    this.#isClosing = true
    for (const attempt of this.#attempts.values()) attempt.end()
    const goodbye = async (): Promise<void> => {
      await Promise.all([...this.#slots, ...(this.#spare ? [this.#spare] : [])].map((each) => each.close()))
      await this.#redis.client.hdel(REDIS_KEYS.workers, this.#name)
    }
    await Promise.race([goodbye().catch(() => {}), delay(2000, undefined, { ref: false })])
  }
}

const MAX_SPARE = 64

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** Seconds that are kept until it is certain that Redis has not lost them. */
const KEPT_MESSAGES = 120

/** One try to play a part, in a thread of its own, so that this thread is free to renew the lock. */
class Attempt {
  readonly id: string
  readonly #redis: WorkerRedis
  readonly #job: PartJob
  readonly #worker: string
  readonly #kept: WorkerMessage[] = []
  readonly #ended = new AbortController()
  #thread: LoadThread | undefined
  #seq = 0
  #isStarted = false
  /** True if the part needs no other attempt. */
  isOver = false

  constructor(redis: WorkerRedis, job: PartJob, id: string, worker: string) {
    this.#redis = redis
    this.#job = job
    this.id = id
    this.#worker = worker
  }

  async play(receive: () => Promise<ReceivedRun>): Promise<void> {
    const { part, expected, isCalibration } = this.#job
    try {
      const run = await receive()
      const thread = new LoadThread({
        part,
        expected,
        run,
        onReady: () => this.#send({ kind: 'ready', ...this.#from }),
        onInterval: (interval) => this.#send({ kind: 'interval', ...this.#from, seq: this.#seq++, interval }),
      })
      this.#thread = thread
      const result = await Promise.race([thread.result, aborted(this.#ended.signal)])
      if (result === undefined) return
      if (isCalibration) this.#send({ kind: 'calibrated', ...this.#from, expected: [...result.expected] })
      else this.#send({ kind: 'done', ...this.#from, intervals: this.#seq, facts: factsOf(result) })
      this.isOver = true
    } catch (error) {
      const hint = error instanceof ReelayError ? error.hint : undefined
      this.#send({ kind: 'failed', ...this.#from, message: errorMessage(error), ...(hint && { hint }) })
      this.isOver = true
    } finally {
      await this.#thread?.close()
    }
    if (!isCalibration) await aborted(this.#ended.signal) // a lost message can still be sent again
  }

  get #from(): Pick<WorkerMessage, 'part' | 'attempt' | 'worker'> {
    return { part: this.#job.part.index, attempt: this.id, worker: this.#worker }
  }

  obey(message: ControlMessage): void {
    const { index } = this.#job.part
    if (message.kind === 'start' && message.attempts.includes(this.id))
      this.#start({ at: this.#redis.toLocal(message.at) })
    if (message.kind === 'resume' && message.part === index) {
      if (message.attempt === this.id) this.#start({ resume: message.progress })
      else if (this.#isStarted) this.end() // another worker has taken over
    }
    if (message.kind === 'part-over' && message.part === index) {
      this.isOver = true
      this.end()
    }
    if (message.kind === 'stop') this.#thread?.stop()
  }

  #start(start: PartStart): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#thread?.start(start)
  }

  /** Ends at once, without a result. */
  end(): void {
    this.#ended.abort()
  }

  #send(message: WorkerMessage): void {
    this.#kept.push(message)
    if (this.#kept.length > KEPT_MESSAGES) this.#kept.shift()
    this.#write(message)
  }

  #write(message: WorkerMessage): void {
    this.#redis.client.xadd(REDIS_KEYS.results, '*', 'm', JSON.stringify(message)).catch(() => {})
  }

  sendAgain(): void {
    for (const message of this.#kept) this.#write(message)
  }
}

function factsOf({ duration, wasStopped, generator, failures, mostOpen, heldBack }: LoadResult): PartFacts {
  return { duration, wasStopped, generator, failures, mostOpen, heldBack: [...heldBack] }
}
