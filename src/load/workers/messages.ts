import { isObject, parseJson } from '../../json/parse.ts'
import type { LoadOptions, LoadResult, PartProgress } from '../load.ts'
import type { EncodedInterval } from '../threads.ts'

// What the coordinator of a run and its workers tell each other through Redis.

/** The options of a run that all workers use. */
export type SharedLoadOptions = Pick<
  LoadOptions,
  | 'model'
  | 'shape'
  | 'thinkFactor'
  | 'arrivals'
  | 'seed'
  | 'grace'
  | 'calibrate'
  | 'server'
  | 'timeout'
  | 'startTimeout'
  | 'allow'
  | 'allowWrites'
>

/** A run. The secrets of its tapes, the headers of its requests and the command of its server are known to the workers only. */
export interface RunPlan {
  /** The version of Reelay, which is the same everywhere. */
  readonly reelay: string
  readonly id: string
  readonly tapes: readonly SentTape[]
  /** The URL of the server, or `undefined` if each worker starts its own server command. */
  readonly url?: string
  readonly sse?: true
  readonly options: SharedLoadOptions
}

/** A tape that is stored in Redis under the hash of its content. */
export interface SentTape {
  readonly name: string
  readonly hash: string
  readonly weight: number
}

/** A job of the queue: one part of a run, or its calibration. */
export interface PartJob {
  readonly plan: RunPlan
  readonly part: { readonly index: number; readonly of: number }
  readonly isCalibration: boolean
  readonly expected: readonly (readonly [string, number])[]
  /** How many parts a worker takes before others have taken theirs. */
  readonly perWorker: number
}

export function isPartJob(data: unknown): data is PartJob {
  return isObject(data) && isObject(data['plan']) && isObject(data['part']) && Array.isArray(data['expected'])
}

/** What a worker says about itself. */
export interface WorkerInfo {
  readonly name: string
  /** The number of parts that it can play at once without being busy. */
  readonly threads: number
  /** When it was last seen, by the clock of Redis. */
  readonly seen: number
  readonly reelay: string
}

export function isWorkerInfo(value: unknown): value is WorkerInfo {
  return isObject(value) && typeof value['name'] === 'string' && typeof value['seen'] === 'number'
}

/** The result of a part without its totals, which are sent second by second. */
export type PartFacts = Pick<
  LoadResult,
  'duration' | 'wasStopped' | 'generator' | 'failures' | 'mostOpen'
> & {
  readonly heldBack: readonly (readonly [string, number])[]
}

/** Each try to play a part has a name of its own, so that what a lost worker still sends is told apart. */
interface FromAttempt {
  readonly part: number
  readonly attempt: string
  readonly worker: string
}

/** What a worker reports. */
export type WorkerMessage = FromAttempt &
  (
    | { readonly kind: 'ready' }
    /** One second. `seq` counts the messages of the attempt, so that one that arrives twice counts once. */
    | { readonly kind: 'interval'; readonly seq: number; readonly interval: EncodedInterval }
    | { readonly kind: 'done'; readonly intervals: number; readonly facts: PartFacts }
    | { readonly kind: 'failed'; readonly message: string; readonly hint?: string }
    | { readonly kind: 'calibrated'; readonly expected: readonly (readonly [string, number])[] }
  )

/** What the coordinator tells the workers. */
export type ControlMessage =
  /** These attempts begin at a time of Redis. */
  | { readonly kind: 'start'; readonly at: number; readonly attempts: readonly string[] }
  /** An attempt takes over a part that another one has left. */
  | {
      readonly kind: 'resume'
      readonly part: number
      readonly attempt: string
      readonly progress: PartProgress
    }
  /** Every attempt at this part ends. */
  | { readonly kind: 'part-over'; readonly part: number }
  /** The user has stopped the run: report what was measured. */
  | { readonly kind: 'stop' }
  | { readonly kind: 'over' }

const WORKER_KINDS = new Set(['ready', 'interval', 'done', 'failed', 'calibrated'])
const CONTROL_KINDS = new Set(['start', 'resume', 'part-over', 'stop', 'over'])

/** Reads what a worker reports. Returns `undefined` for an entry of a stream that Reelay has not written. */
export function readWorkerMessage(fields: readonly string[]): WorkerMessage | undefined {
  const message = contentOf(fields)
  return isWorkerMessage(message) ? message : undefined
}

function isWorkerMessage(message: unknown): message is WorkerMessage {
  if (!isObject(message) || !WORKER_KINDS.has(String(message['kind']))) return false
  return ['attempt', 'worker'].every((name) => typeof message[name] === 'string')
}

/** Reads what the coordinator says. */
export function readControlMessage(fields: readonly string[]): ControlMessage | undefined {
  const message = contentOf(fields)
  return isControlMessage(message) ? message : undefined
}

function isControlMessage(message: unknown): message is ControlMessage {
  return isObject(message) && CONTROL_KINDS.has(String(message['kind']))
}

function contentOf([name, text = '']: readonly string[]): unknown {
  return name === 'm' ? parseJson(text) : undefined
}
