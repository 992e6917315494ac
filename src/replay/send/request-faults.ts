import type { FaultActions } from '../../faults/fault.ts'
import {
  parseFaultRules,
  requireSupportedFaults,
  toFaultRules,
  type FaultRule,
  type FaultSetting,
  SessionFaults,
} from '../../faults/fault-rules.ts'
import { parseJson, member } from '../../json/parse.ts'
import { replaceId } from '../../protocol/find-id.ts'
import { responseText } from '../../protocol/message.ts'
import { DEFAULT_SEED, seededRandom } from '../../seeded-random.ts'
import type { PlannedMessage } from '../plan/plan.ts'
import type { CallEnd } from '../session/live-session.ts'

/** The faults of a replay. */
export interface ReplayFaultOptions {
  /** Rules as in a faults file, also for `serveHttp` and `serveStdio`. */
  readonly faults?: readonly FaultSetting[] | readonly FaultRule[]
  /** Seed of the rules with a probability. The default is 1. */
  readonly seed?: number
  /** Shorthand for one rule with a probability and `oneOf` several faults. */
  readonly injection?: ErrorInjection
}

export interface ErrorInjection {
  /** From 0 to 1. */
  readonly probability: number
  readonly errors: readonly [InjectedError, ...InjectedError[]]
  readonly seed?: number
}

/** The names of faults, and two older names for them. */
type InjectedError = keyof typeof INJECTED_FAULTS

const INJECTED_FAULTS = {
  timeout: { timeout: true },
  disconnect: { disconnect: true },
  malformed: { malformed: 'truncated' },
  'network-error': { disconnect: true },
  'invalid-response': { malformed: 'truncated' },
} as const

const DEFAULT_INJECTION_SEED = 42

/** Returns the faults of a run; `undefined` if it has none. Throws for a fault that only a server can apply. */
export function requestFaults(options: ReplayFaultOptions): RequestFaults | undefined {
  return options.faults?.length || options.injection ? new RequestFaults(options) : undefined
}

/** Applies fault rules to the requests of a replay. A request is not sent if the fault hides its response. */
export class RequestFaults {
  readonly #faults: readonly SessionFaults[]
  readonly #random: () => number

  constructor({ faults = [], seed = DEFAULT_SEED, injection }: ReplayFaultOptions) {
    const rules = toFaultRules(faults)
    requireSupportedFaults(
      rules,
      connectionActions(() => {}),
      () => UNSUPPORTED_HINT,
    )
    this.#random = seededRandom(seed)
    this.#faults = [
      ...(rules.length > 0 ? [new SessionFaults(rules, seed)] : []),
      ...(injection === undefined ? [] : [injectionFaults(injection)]),
    ]
  }

  /** Resolves with the end of a request that fails, or with `undefined` when the request is to be sent. `id` is JSON. */
  async endOf(
    { message, turn }: PlannedMessage,
    id: string,
    wait: (ms: number) => Promise<unknown>,
  ): Promise<CallEnd | undefined> {
    const [fault] = this.#faults
      .map((faults) => faults.faultFor(message))
      .filter((each) => each !== undefined)
    if (fault === undefined) return undefined
    const recorded =
      turn.response === undefined
        ? responseText(id, { result: {} })
        : replaceId(turn.response.text, id, turn.response.id)
    return new Promise((resolve) =>
      fault.apply({
        id,
        request: message,
        random: this.#random,
        clock: { after: (ms, action) => void wait(ms).then(action) },
        play: (reply) => (fault.hidesResponse ? reply(recorded) : resolve(undefined)),
        reply: (text) => resolve(answeredEnd(text, id)),
        isCancelled: () => false,
        onCancel: () => {},
        connection: connectionActions(resolve),
      }),
    )
  }
}

function injectionFaults({ probability, errors, seed }: ErrorInjection): SessionFaults {
  const oneOf = errors.map((name) => INJECTED_FAULTS[name])
  return new SessionFaults(parseFaultRules([{ probability, oneOf }]), seed ?? DEFAULT_INJECTION_SEED)
}

/** A response with another id does not reach the client. */
function answeredEnd(text: string | undefined, id: string): CallEnd {
  const answeredId = text === undefined ? undefined : member(parseJson(text), 'id')
  const isForOther = answeredId !== undefined && JSON.stringify(answeredId) !== id
  if (text === undefined || isForOther) return { kind: 'timeout', after: 0 }
  return { kind: 'answered', text, asRecorded: false }
}

function connectionActions(end: (end: CallEnd) => void): FaultActions {
  return {
    drop: () => end({ kind: 'lost', why: 'the stream ended before the response' }),
    disconnect: () => end({ kind: 'lost', why: 'the network failed' }),
    http: ({ status }) => end({ kind: 'lost', why: `the server answered with HTTP ${status}` }),
  }
}

const UNSUPPORTED_HINT =
  'a replay can use delay, timeout, error, malformed, drop, disconnect and http; use the others with reelay serve'
