import type { ReplayController } from '../control/controller.ts'
import type { ReplayOptions } from '../options.ts'
import type { PlannedMessage, ReplayPlan } from '../plan/plan.ts'
import type { SentMessage } from '../send/send-message.ts'
import { type LiveNotifications, SERVER_GRACE } from '../session/live-notifications.ts'
import type { Peer } from '../session/peer.ts'
import {
  connectionNotifications,
  notificationKey,
  observedNotification,
} from '../steps/observed-notifications.ts'
import { hasFailed, type ReplayStep, NO_FINDINGS, type StepFinding } from '../steps/step.ts'
import { compareConnection, type RecordedNotification, TIMER_DELAY } from './connection-notifications.ts'
import type { JudgeOptions } from './comparison-rules.ts'
import type { Judges } from './judge.ts'
import type { RecordedMessage, Turn } from '../../tape/turns.ts'

interface UnsolicitedMessagesContext {
  readonly options: JudgeOptions &
    Pick<ReplayOptions, 'onError' | 'signal'> & { readonly controller: ReplayController }
  readonly plan: ReplayPlan
  readonly peer: Peer
  readonly judges: Judges
}

/** A step that is reported after the notifications of its link were compared. */
export interface DeferredStep {
  readonly step: ReplayStep
  readonly sent: SentMessage
}

/**
 * Checks the messages that the server sends on its own. Nothing in a log message, for example, tells which request it belongs to,
 * and it may come after the answer. All notifications of a link are therefore compared together, with its last step.
 */
export class UnsolicitedMessages {
  readonly #options: UnsolicitedMessagesContext['options']
  readonly #plan: ReplayPlan
  readonly #peer: Peer
  readonly #judges: Judges
  /** The links by the index of the last message on them; empty if answers are not compared. */
  readonly #lastMessages: ReadonlyMap<number, string>
  readonly #deferred: DeferredStep[] = []
  /** Frames of messages that were not sent, or that the server did not process as when they were recorded. */
  readonly #disturbed = new Set<number>()
  /** Links on which a request was sent more than once, or that is not on the tape. */
  readonly #retried = new Set<string>()
  /** For each link, the recorded id of a subscription by its live id. */
  readonly #subscriptions = new Map<string, Map<unknown, unknown>>()

  constructor({ options, plan, peer, judges }: UnsolicitedMessagesContext) {
    this.#options = options
    this.#plan = plan
    this.#peer = peer
    this.#judges = judges
    this.#lastMessages = options.validate === false ? new Map() : plan.lastMessages()
  }

  /** Waits for the messages that the server had sent before this one when it was recorded. */
  async waitBefore({ link, receivedBefore: wanted }: PlannedMessage): Promise<readonly StepFinding[]> {
    if (wanted.size === 0) return NO_FINDINGS
    const { notifications } = await this.#peer.sessionOf(link)
    const missing = await notifications.waitForCounts(wanted, SERVER_GRACE)
    return missing.filter((method) => !method.startsWith('notifications/')).map(missingRequest)
  }

  /** Returns true if the step is kept back: the last step of a link is reported with the notifications of the link. */
  defer(step: ReplayStep, sent: SentMessage): boolean {
    this.#observe(step, sent)
    if (!this.#lastMessages.has(step.index) || !wasSent(step)) return false
    if (this.#options.onError === 'pause' && hasFailed(step)) return false // the user looks at it before the run continues
    this.#deferred.push({ step, sent })
    return true
  }

  /** The step of a message if it is kept back. */
  deferredStep(index: number): ReplayStep | undefined {
    return this.#deferred.find(({ step }) => step.index === index)?.step
  }

  /** The user sends a message on this link that is not on the tape, so that the server may send more notifications. */
  disturb(link: string): void {
    this.#retried.add(link)
  }

  /** Returns the deferred steps, with findings about the notifications of their links. */
  finish(): Promise<readonly DeferredStep[]> {
    return Promise.all(this.#deferred.splice(0).map((deferred) => this.#settle(deferred)))
  }

  #observe({ frame, state, retries, isInjected }: ReplayStep, sent: SentMessage): void {
    const { planned } = sent
    if (state !== 'done' || isInjected === true) this.#disturbed.add(frame)
    if (retries > 0) this.#retried.add(planned.link)
    if (sent.kind !== 'requested' || planned.message.method !== LISTEN) return
    const known = this.#subscriptions.get(planned.link) ?? new Map<unknown, unknown>()
    this.#subscriptions.set(planned.link, known)
    if (planned.message.kind === 'request') known.set(sent.id, planned.message.id)
  }

  async #settle(deferred: DeferredStep): Promise<DeferredStep> {
    const { step, sent } = deferred
    const link = this.#lastMessages.get(step.index)
    const session = link === undefined ? undefined : this.#peer.openSessionOf(link)
    if (link === undefined || session === undefined || this.#isStopped) return deferred
    const recorded = [...this.#recordedOn(link, session.hasStreams)]
    await waitForExpected(recorded, session.notifications)
    if (this.#isStopped || session.notifications.isIncomplete) return deferred
    const subscriptions = this.#subscriptions.get(link)
    const mayBeNew = this.#retried.has(link)
    const mayHaveLost = sent.planned.turn.trigger?.x !== undefined
    const live = session.notifications.received.map(({ method, params, isEarly, isAtStart, pause }) => ({
      value: observedNotification({ method, params }, subscriptions),
      isOptional:
        isEarly || mayBeNew || pause > TIMER_DELAY || (mayHaveLost && isAtStart && isListChange(method)),
    }))
    const { findings, observed } = compareConnection({ recorded, live }, (then, now) =>
      this.#judges.rules.differences(then, now),
    )
    if (observed === undefined) return deferred
    const notifications = withConnection(step.notifications, observed)
    const all = [...step.findings, ...(this.#judges.isStrict ? findings.map(asError) : findings)]
    return { step: { ...step, notifications, findings: all }, sent }
  }

  /** `mayLose` means that the live server cannot send anything on its own before a stream for it is open. */
  *#recordedOn(link: string, mayLose: boolean): Generator<RecordedNotification> {
    const firstAnswer = mayLose ? this.#plan.firstAnswerOn(link) : 0
    const started = this.#plan.startOf(link)
    const ids = new Set(this.#subscriptions.get(link)?.values())
    const subscriptions = new Map(Array.from(ids, (id) => [id, id]))
    for (const { turn, isExpected } of this.#plan.notifyingTurns(link)) {
      const isOptional = !isExpected || this.#disturbed.has(turn.trigger?.n ?? -1)
      for (const recorded of connectionNotifications(turn)) {
        const { message, n } = recorded
        if (message.kind !== 'notification') continue
        const value = observedNotification(message, subscriptions)
        const key = notificationKey(recorded)
        const isUncertain = n < firstAnswer && isListChange(value.method) && !isSubscription(turn)
        const delay = delayOf(recorded, turn, this.#plan)
        const age = recorded.t - started
        // By then, a timer that was started in the session has fired also if the run is fast.
        const isWorthWaiting = age <= (isChange(value.method) ? LONGEST_WAIT : LONGEST_WAIT_FOR_LOGS)
        yield {
          key,
          value,
          isOptional,
          isUncertain,
          ...(delay > TIMER_DELAY && isWorthWaiting ? { delay: 0, wait: age } : { delay, wait: 2 * delay }),
        }
      }
    }
  }

  get #isStopped(): boolean {
    return this.#options.signal?.aborted === true || this.#options.controller.status === 'stopped'
  }
}

/** Waits for late notifications, but not for those that a timer of the server may send. */
async function waitForExpected(
  recorded: readonly RecordedNotification[],
  live: LiveNotifications,
): Promise<void> {
  const expected = recorded.filter(
    ({ isOptional, isUncertain, delay }) => !isOptional && !isUncertain && delay <= TIMER_DELAY,
  )
  const wanted = new Map<string, number>()
  for (const { value } of expected) wanted.set(value.method, (wanted.get(value.method) ?? 0) + 1)
  const longest = Math.max(0, ...expected.map(({ wait }) => wait))
  await live.waitForCounts(wanted, NOTIFICATION_GRACE + longest)
  await live.waitUntil(() => false, SETTLING)
}

// Milliseconds that a notification may come after the last answer, if it was recorded before an answer.
const NOTIFICATION_GRACE = 700

/**
 * Milliseconds from the start of a session. A pause on the tape may be that of a timer, or that of a busy machine. A notification that came this
 * early is waited for, so that it is missed in both cases. Log messages are sent by timers more often than messages about changes.
 */
const LONGEST_WAIT = 10_000
const LONGEST_WAIT_FOR_LOGS = 4000

function isChange(method: string): boolean {
  return method !== 'notifications/message'
}

// A notification that the server sends together with its last answer arrives within this many milliseconds.
const SETTLING = 10

/**
 * Milliseconds from the message that may have caused a notification to the notification. It is 0 if a request was open, because
 * the live request takes its time too.
 */
function delayOf({ n, t }: RecordedMessage, { trigger, response }: Turn, plan: ReplayPlan): number {
  if (response !== undefined && n < response.n && !isSubscription({ trigger })) return 0
  const before = plan.messageBefore(n)?.turn
  if (before?.trigger === undefined) return 0
  const answer = before.response
  return t - (answer !== undefined && answer.n < n ? answer.t : before.trigger.t)
}

// Servers that register their features when a session begins report them as changed.
function isListChange(method: string): boolean {
  return method.endsWith('/list_changed')
}

function isSubscription({ trigger }: Pick<Turn, 'trigger'>): boolean {
  return trigger !== undefined && 'method' in trigger.message && trigger.message.method === LISTEN
}

const LISTEN = 'subscriptions/listen'

function wasSent({ sentAt, isInjected }: ReplayStep): boolean {
  return sentAt !== undefined && isInjected !== true
}

function missingRequest(method: string): StepFinding {
  const message = `the request ${method} of the server no longer comes before this`
  return { layer: 'order', level: 'error', message }
}

function asError(finding: StepFinding): StepFinding {
  return finding.level === 'warn' ? { ...finding, level: 'error' } : finding
}

function withConnection(text: string | undefined, observed: string): string {
  return text === undefined ? `{"connection":${observed}}` : `${text.slice(0, -1)},"connection":${observed}}`
}
