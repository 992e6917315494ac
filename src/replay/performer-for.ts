import type { CarriedValues } from './values/carried-values.ts'
import { TrailingChecks } from './judge/trailing-notifications.ts'
import { createErrorInjector } from './send/error-injection.ts'
import type { LiveSessions } from './session/live-sessions.ts'
import { MessageSender } from './send/message-sender.ts'
import type { ReplayPlan } from './plan/plan.ts'
import { SERVER_GRACE, DEFAULT_TIMEOUT, type RunOptions } from './prepare-options.ts'
import type { InputRounds } from './session/input-rounds.ts'
import { CancellableCalls } from './sent-calls.ts'
import { judgeAnswer, type Judges } from './judge/judge.ts'
import type { ResourceUpdatesJudge } from './judge/resource-updates.ts'

/** A run whose link is open. */
interface OpenRun {
  readonly options: RunOptions
  readonly links: LiveSessions
  readonly plan: ReplayPlan
  readonly judgeUpdates: ResourceUpdatesJudge['judge']
}

const DEFAULT_RETRY_DELAY = 500

/** What sends the messages, by the options of the run. */
export function createMessageSender({
  options,
  links,
  carrier,
  rounds,
  judges,
  plan,
  judgeUpdates,
}: OpenRun & { carrier: CarriedValues; rounds: InputRounds; judges: Judges }): MessageSender {
  const {
    rules = [],
    updateTimestamps,
    injection,
    timeout = DEFAULT_TIMEOUT,
    onError,
    maxRetries = 3,
    retryDelay = DEFAULT_RETRY_DELAY,
    controller,
    now,
  } = options
  return new MessageSender({
    sessionOf: (link) => links.sessionOf(link),
    openSessionOf: (link) => links.openSessionOf(link),
    judgeUpdates,
    calls: new CancellableCalls(plan.cancelled),
    carrier,
    rounds,
    rules,
    ...(updateTimestamps && { moveTimes: (at: number) => Date.now() - (Date.parse(options.started) + at) }),
    ...(injection && { inject: createErrorInjector(injection) }),
    judge: (judged) => judgeAnswer(judged, judges),
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
export function createTrailingChecks({
  plan,
  options,
  links,
  judgeUpdates,
}: OpenRun): TrailingChecks | undefined {
  const { validate, strict, onError, signal, controller } = options
  if (validate === false) return undefined
  return new TrailingChecks({
    plan,
    notificationsOn: (link) => links.openSessionOf(link)?.notifications,
    grace: SERVER_GRACE,
    pausesOnFailure: onError === 'pause',
    isStrict: strict === true,
    isStopped: () => signal?.aborted === true || controller.status === 'stopped',
    judgeUpdates,
  })
}
