import type { Carrier } from './carrier.ts'
import { Endings } from './endings.ts'
import { injector } from './injection.ts'
import type { Links } from './links.ts'
import { Performer } from './perform.ts'
import type { Plan } from './plan.ts'
import { GRACE, TIMEOUT, type PrepareOptions } from './prepare-options.ts'
import type { RoundInputs } from './round-inputs.ts'
import { SentCalls } from './sent-calls.ts'
import { judge, type Judges } from './verdict/judge.ts'
import type { UpdatesJudge } from './verdict/updates.ts'

/** A run whose link is open. */
interface Opened {
  readonly options: PrepareOptions
  readonly links: Links
  readonly plan: Plan
  readonly judgeUpdates: UpdatesJudge['judge']
}

const RETRY_DELAY = 500

/** What sends the messages, by the options of the run. */
export function performerFor({
  options,
  links,
  carrier,
  rounds,
  judges,
  plan,
  judgeUpdates,
}: Opened & { carrier: Carrier; rounds: RoundInputs; judges: Judges }): Performer {
  const {
    rules = [],
    updateTimestamps,
    injection,
    timeout = TIMEOUT,
    onError,
    maxRetries = 3,
    retryDelay = RETRY_DELAY,
    controller,
    now,
  } = options
  return new Performer({
    sessionOf: (link) => links.sessionOf(link),
    openSessionOf: (link) => links.openSessionOf(link),
    judgeUpdates,
    calls: new SentCalls(plan.cancelled),
    carrier,
    rounds,
    rules,
    ...(updateTimestamps && { moveTimes: (at: number) => Date.now() - (Date.parse(options.started) + at) }),
    ...(injection && { inject: injector(injection) }),
    judge: (judged) => judge(judged, judges),
    timeout,
    retries: maxRetries,
    retriesLost: onError === 'retry',
    retryDelay,
    controller,
    keepsIds: options.transformIds === false,
    now,
  })
}

/** What waits for the last words of the server; undefined when nothing is compared. */
export function endingsFor({ plan, options, links, judgeUpdates }: Opened): Endings | undefined {
  const { validate, strict, onError, signal, controller } = options
  if (validate === false) return undefined
  return new Endings({
    plan,
    heardOn: (link) => links.openSessionOf(link)?.heard,
    grace: GRACE,
    isLookedAt: onError === 'pause',
    isStrict: strict === true,
    isStopped: () => signal?.aborted === true || controller.status === 'stopped',
    judgeUpdates,
  })
}
