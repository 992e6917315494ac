import { parentPort, Worker, workerData } from 'node:worker_threads'
import { ReelayError } from '../errors.ts'
import type { LoadInterval, LoadOptions, LoadResult, PartStart } from './load.ts'
import { type EncodedTotals, LoadTotals } from './measurements.ts'

/** What a thread is told when it starts. */
interface ThreadOrder {
  readonly reelayLoad: true
  readonly part: { readonly index: number; readonly of: number }
  readonly expected: readonly (readonly [string, number])[]
  /** The run that a coordinator has sent; by default the command line of the program says what is played. */
  readonly run?: unknown
}

export type EncodedInterval = Omit<LoadInterval, 'totals'> & { readonly totals: EncodedTotals }
type EncodedResult = Omit<LoadResult, 'totals'> & { readonly totals: EncodedTotals }

/** What a thread reports. */
type ThreadMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'interval'; readonly interval: EncodedInterval }
  | { readonly kind: 'done'; readonly result: EncodedResult }
  | { readonly kind: 'failed'; readonly message: string; readonly hint: string | undefined }

/** What a thread is told while it runs. */
type ThreadCommand = { readonly kind: 'start'; readonly start?: PartStart } | { readonly kind: 'stop' }

/** The part of a run that this thread plays; `undefined` in the main thread. */
export function threadPart(): ThreadPart | undefined {
  const order: unknown = workerData
  const isOrdered = typeof order === 'object' && order !== null && 'reelayLoad' in order
  return isOrdered && parentPort !== null ? new ThreadPart(order as unknown as ThreadOrder) : undefined
}

/** The side of a thread: takes its part of the load, waits for the start and reports. */
class ThreadPart {
  readonly #order: ThreadOrder
  readonly #stop = new AbortController()

  constructor(order: ThreadOrder) {
    this.#order = order
  }

  /** The run that a coordinator has sent. */
  get sentRun(): unknown {
    return this.#order.run
  }

  /** Plays this part. `play` is called with the options that make it a part. */
  async run(play: (options: Partial<LoadOptions>) => Promise<LoadResult>): Promise<void> {
    const { part, expected, run } = this.#order
    const started = new Promise<PartStart | undefined>((resolve) =>
      parentPort?.on('message', (command: ThreadCommand) => {
        if (command.kind === 'stop') this.#stop.abort()
        resolve(command.kind === 'start' ? command.start : undefined)
      }),
    )
    try {
      const result = await play({
        part,
        expected: new Map(expected),
        signal: this.#stop.signal,
        countsWholeSessions: run !== undefined,
        beforeStart: () => {
          this.#tell({ kind: 'ready' })
          return started
        },
        onInterval: (interval) =>
          this.#tell({ kind: 'interval', interval: { ...interval, totals: interval.totals.encode() } }),
      })
      this.#tell({ kind: 'done', result: { ...result, totals: result.totals.encode() } })
    } catch (error) {
      const hint = error instanceof ReelayError ? error.hint : undefined
      this.#tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error), hint })
    }
    parentPort?.close()
  }

  #tell(message: ThreadMessage): void {
    parentPort?.postMessage(message)
  }
}

interface LoadThreadOptions extends Omit<ThreadOrder, 'reelayLoad'> {
  readonly onReady: () => void
  readonly onInterval: (interval: EncodedInterval) => void
}

/** A thread that runs this program again and plays a part of the load. */
export class LoadThread {
  readonly #worker: Worker
  /** Rejects if the part cannot be played. */
  readonly result: Promise<LoadResult>

  constructor({ onReady, onInterval, ...order }: LoadThreadOptions) {
    const [, program = '', ...argv] = process.argv
    const threadOrder: ThreadOrder = { reelayLoad: true, ...order }
    const worker = new Worker(program, { argv, workerData: threadOrder })
    this.#worker = worker
    this.result = new Promise((resolve, reject) => {
      worker.on('error', reject)
      worker.on('exit', () => reject(new Error('a load thread ended early')))
      worker.on('message', (message: ThreadMessage) => {
        if (message.kind === 'ready') onReady()
        if (message.kind === 'interval') onInterval(message.interval)
        if (message.kind === 'done') resolve(decodeTotals(message.result))
        if (message.kind === 'failed')
          reject(new ReelayError('TARGET_REFUSED', message.message, { hint: message.hint ?? '' }))
      })
    })
  }

  start(start?: PartStart): void {
    this.#tell({ kind: 'start', ...(start && { start }) })
  }

  /** Ends the sessions; the result then says that the part was stopped. */
  stop(): void {
    this.#tell({ kind: 'stop' })
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }

  #tell(command: ThreadCommand): void {
    this.#worker.postMessage(command)
  }
}

interface ThreadsOptions {
  readonly threads: number
  readonly expected: ReadonlyMap<string, number>
  readonly signal: AbortSignal
  readonly onInterval: (interval: LoadInterval) => void
}

/** Runs this program in several threads, each with a part of the load, and adds up what they measure. */
export async function loadInThreads({
  threads,
  expected,
  signal,
  onInterval,
}: ThreadsOptions): Promise<LoadResult> {
  const intervals = new IntervalSum(threads, onInterval)
  let ready = 0
  const all = Array.from(
    { length: threads },
    (_, index) =>
      new LoadThread({
        part: { index, of: threads },
        expected: [...expected],
        onReady: () => {
          if (++ready === threads) for (const thread of all) thread.start()
        },
        onInterval: (interval) => intervals.add(index, decodeTotals(interval)),
      }),
  )
  const stop = (): void => {
    for (const thread of all) thread.stop()
  }
  signal.addEventListener('abort', stop)
  try {
    const results = await Promise.all(all.map(({ result }) => result))
    intervals.flush()
    return mergeResults(results)
  } finally {
    signal.removeEventListener('abort', stop)
    await Promise.all(all.map((thread) => thread.close()))
  }
}

/** Reads the totals of a thread or another machine. */
export function decodeTotals<Encoded extends { readonly totals: EncodedTotals }>(
  encoded: Encoded,
): Omit<Encoded, 'totals'> & { readonly totals: LoadTotals } {
  return { ...encoded, totals: LoadTotals.decode(encoded.totals) }
}

/** Adds up the intervals of all threads: the first of each, then the second of each. */
class IntervalSum {
  readonly #onInterval: (interval: LoadInterval) => void
  /** The intervals of each thread that are not added up yet. */
  readonly #waiting: readonly LoadInterval[][]

  constructor(threads: number, onInterval: (interval: LoadInterval) => void) {
    this.#waiting = Array.from({ length: threads }, () => [])
    this.#onInterval = onInterval
  }

  add(thread: number, interval: LoadInterval): void {
    this.#waiting[thread]?.push(interval)
    if (this.#waiting.every(({ length }) => length > 0)) this.#report()
  }

  /** Reports what is left when the threads do not all have the same number of intervals. */
  flush(): void {
    while (this.#waiting.some(({ length }) => length > 0)) this.#report()
  }

  #report(): void {
    const all = this.#waiting.flatMap((intervals) => intervals.shift() ?? [])
    const totals = new LoadTotals()
    for (const each of all) totals.merge(each.totals)
    const open = sum(all.map((each) => each.open))
    const at = Math.max(...all.map((each) => each.at))
    this.#onInterval({ at, level: all[0]?.level ?? 0, open, totals })
  }
}

function mergeResults(results: readonly LoadResult[]): LoadResult {
  const [first, ...others] = results
  if (first === undefined) throw new Error('there are no threads')
  const totals = new LoadTotals()
  for (const each of results) totals.merge(each.totals)
  return {
    ...first,
    totals,
    duration: Math.max(...results.map(({ duration }) => duration)),
    wasStopped: results.some(({ wasStopped }) => wasStopped),
    generator: {
      busy: Math.max(...results.map(({ generator }) => generator.busy)),
      waited: sum(results.map(({ generator }) => generator.waited)),
    },
    failures: [...new Set([first, ...others].flatMap(({ failures }) => failures))].slice(0, 5),
    mostOpen: sum(results.map(({ mostOpen }) => mostOpen)),
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((before, number) => before + number, 0)
}
