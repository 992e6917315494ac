import type { CallEnd } from '../session/live-calls.ts'
import { seededRandom } from '../../seeded-random.ts'

type InjectedError = 'timeout' | 'network-error' | 'invalid-response'

/** Faults on the way to the server, by chance: the request is not sent, and its answer is as if it had gone wrong. */
export interface ErrorInjection {
  /** From 0 to 1. */
  readonly probability: number
  readonly errors: readonly [InjectedError, ...InjectedError[]]
  readonly seed?: number
}

/** Decides for each request in turn, the same for the same seed; undefined lets it through. */
export function createErrorInjector({
  probability,
  errors,
  seed = 42,
}: ErrorInjection): () => CallEnd | undefined {
  const random = seededRandom(seed)
  return () => {
    if (random() >= probability) return undefined
    return INJECTED_ENDS[errors[Math.floor(random() * errors.length)] ?? errors[0]]
  }
}

const INJECTED_ENDS: Readonly<Record<InjectedError, CallEnd>> = {
  timeout: { kind: 'timeout', after: 0 },
  'network-error': { kind: 'lost', why: 'the network failed' },
  'invalid-response': { kind: 'answered', text: '{"jsonrpc":"2.0","id":', asRecorded: false },
}
