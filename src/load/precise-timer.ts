import { Worker } from 'node:worker_threads'

/**
 * Calls functions at exact times. Node's own timers have a resolution of a millisecond, so a thread that sleeps in `Atomics.wait`
 * wakes this one when something is due.
 *
 * The thread knows the next two times. When it has announced the first, it sleeps until the second without being woken in between,
 * which would cost as much as the call itself.
 */
export class PreciseTimer {
  readonly #queue = new DueQueue()
  readonly #shared = new SharedArrayBuffer(32)
  /** In nanoseconds: the times of the next two calls, and the time until which the thread sleeps. */
  readonly #times = new BigInt64Array(this.#shared, 0, 3)
  /** Changes to wake the thread. */
  readonly #counter = new Int32Array(this.#shared, 24, 2)
  readonly #origin = clockOrigin()
  readonly #thread: Worker

  constructor() {
    this.#times.fill(NEVER)
    this.#thread = new Worker(SLEEPER, { eval: true, workerData: this.#shared })
    this.#thread.on('message', () => this.#callDue())
  }

  /** Milliseconds of the clock that all due times are in. */
  now(): number {
    return performance.now()
  }

  /** Resolves at this time, or at once if it is past. */
  until(due: number): Promise<void> {
    return new Promise((resolve) => this.callAt(due, resolve))
  }

  callAt(due: number, call: () => void): void {
    if (due <= this.now()) return void setImmediate(call)
    this.#queue.add(due, call)
    const { second } = this.#queue
    if (second === undefined || due <= second) this.#publish()
  }

  /** Calls everything that is still waiting, at once. */
  async close(): Promise<void> {
    for (const call of this.#queue.takeUntil(Infinity)) call()
    await this.#thread.terminate()
  }

  #callDue(): void {
    for (const call of this.#queue.takeUntil(this.now() + CLOCK_PRECISION_MS)) call()
    this.#publish()
  }

  /** The thread reads the times again before it sleeps, so it misses no earlier one. */
  #publish(): void {
    const { next, second } = this.#queue
    const at = this.#nanoseconds(next)
    Atomics.store(this.#times, 1, this.#nanoseconds(second))
    Atomics.store(this.#times, 0, at)
    if (at >= Atomics.load(this.#times, 2)) return // the thread is awake by then
    Atomics.add(this.#counter, 0, 1)
    Atomics.notify(this.#counter, 0)
  }

  #nanoseconds(due: number | undefined): bigint {
    return due === undefined || due === Infinity ? NEVER : this.#origin + BigInt(Math.round(due * 1e6))
  }
}

const NEVER = 2n ** 62n
const CLOCK_PRECISION_MS = 0.001

/** The `hrtime` at which `performance.now()` was 0. The thread may be interrupted between the two, so the best of several attempts counts. */
function clockOrigin(): bigint {
  const attempts = Array.from({ length: 5 }, () => {
    const now = performance.now()
    return process.hrtime.bigint() - BigInt(Math.round(now * 1e6))
  })
  return attempts.reduce((least, origin) => (origin < least ? origin : least))
}

/** The program of the sleeping thread. */
const SLEEPER = `
const { parentPort, workerData } = require('node:worker_threads')
const times = new BigInt64Array(workerData, 0, 3)
const counter = new Int32Array(workerData, 24, 2)
const NEVER = ${NEVER}n
let announced = 0n
const next = () => {
  for (const place of [0, 1]) {
    const at = Atomics.load(times, place)
    if (at > announced) return at
  }
  return NEVER
}
for (;;) {
  const seen = Atomics.load(counter, 0)
  const at = next()
  Atomics.store(times, 2, at)
  if (next() !== at) continue
  const left = at === NEVER ? Infinity : Number(at - process.hrtime.bigint()) / 1e6
  if (left > 0 && Atomics.wait(counter, 0, seen, left) !== 'timed-out') continue
  if (process.hrtime.bigint() < at) continue
  announced = at
  parentPort.postMessage(0)
}`

/** Calls ordered by their time (a binary heap). */
class DueQueue {
  readonly #heap: { readonly due: number; readonly call: () => void }[] = []

  get next(): number | undefined {
    return this.#heap[0]?.due
  }

  /** The time after `next`. */
  get second(): number | undefined {
    const [, left, right] = this.#heap
    return left === undefined || right === undefined ? left?.due : Math.min(left.due, right.due)
  }

  add(due: number, call: () => void): void {
    const heap = this.#heap
    let at = heap.push({ due, call }) - 1
    for (let parent = (at - 1) >> 1; at > 0 && heap[parent]!.due > due; parent = (at - 1) >> 1) {
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = { due, call }
  }

  /** Removes and returns the calls that are due. */
  *takeUntil(now: number): Generator<() => void> {
    for (let first = this.#heap[0]; first !== undefined && first.due <= now; first = this.#heap[0]) {
      this.#removeFirst()
      yield first.call
    }
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (let child = 1; child < heap.length; child = at * 2 + 1) {
      if (child + 1 < heap.length && heap[child + 1]!.due < heap[child]!.due) child++
      if (heap[child]!.due >= last.due) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}
