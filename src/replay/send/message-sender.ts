import type { StepOutcome } from '../as-recorded.ts'
import { isUnchanged } from '../as-recorded.ts'
import { RequestSender, type RequestAttempt } from './request-sender.ts'
import { judgeStep } from '../judged-step.ts'
import {
  DelayedSender,
  NO_RULES_APPLIED,
  describeUnbound,
  type MessageSenderOptions,
} from '../late-performer.ts'
import type { LiveSession } from '../session/live-session.ts'
import type { PlannedMessage } from '../plan/plan.ts'
import { SERVER_GRACE } from '../prepare-options.ts'
import { isCancellation } from '../sent-calls.ts'
import { notificationStep, unsentStep, type RequestOutcome } from '../step-results.ts'
import { applyRules, type TransformedMessage } from '../transform/transform.ts'
import type { StepFinding } from '../verdict/finding.ts'

/** Takes what becomes of a message. */
export interface SendCallbacks {
  onResult(outcome: StepOutcome): void
  onFailure(error: unknown): void
}

/** Sends one message of the recorded client after the other, and says what became of each. */
export class MessageSender {
  readonly #options: MessageSenderOptions
  readonly #requests: RequestSender
  /** For all that is not sent at once and as recorded. */
  readonly #delayed: DelayedSender
  readonly #surroundings: SenderContext
  /** Whether messages are sent as recorded, but for their names and for values that are carried. */
  readonly #isPlain: boolean

  constructor(options: MessageSenderOptions) {
    this.#options = options
    this.#requests = new RequestSender(options)
    this.#delayed = new DelayedSender(options, this.#requests)
    this.#surroundings = { late: this.#delayed, options }
    this.#isPlain = options.rules.length === 0 && options.moveTimes === undefined
  }

  /** Waits for what the server had said of its own accord when the message was sent. */
  async waitForServer(planned: PlannedMessage): Promise<readonly StepFinding[]> {
    const { link, heard, fate } = planned
    if (fate.kind !== 'send') return []
    await this.#options.calls.waitForProgress(planned, SERVER_GRACE)
    if (heard.size === 0) return []
    const session = await this.#options.sessionOf(link)
    const missing = (await session.notifications.waitForCounts(heard, SERVER_GRACE)).map(missingBefore)
    return [
      ...missing,
      ...(await this.#options.judgeUpdates({ link, wanted: heard, now: session.notifications })),
    ]
  }

  send(planned: PlannedMessage, performance: SendCallbacks): void {
    const { fate, link } = planned
    if (fate.kind !== 'send')
      return performance.onResult(unsentStep(planned, fate.kind === 'skip' ? 'skipped' : 'held', fate.why))
    const isPlain = this.#isPlain && !this.#delayed.isBusy && !isCancellation(planned)
    const session = isPlain ? this.#options.openSessionOf(link) : undefined
    if (session === undefined) settleWith(this.#delayed.send(planned), performance)
    else this.#sendNow(planned, session, performance)
  }

  /** What would be sent now, but for its id; undefined when a value that it needs is not known. */
  preview(planned: PlannedMessage): string | undefined {
    const { text, unbound } = this.#options.carrier.fill(planned)
    if (unbound.length > 0) return undefined
    return this.#delayed.shiftTimes(
      applyRules(text, planned, this.#options.rules, () => new Date()),
      planned,
    ).text
  }

  /** Stops waiting for what is never answered. */
  release(): void {
    this.#requests.release()
  }

  #sendNow(planned: PlannedMessage, session: LiveSession, performance: SendCallbacks): void {
    const { carrier, rounds, calls, now } = this.#options
    const { text: bound, unbound } = carrier.fill(planned)
    if (unbound.length > 0)
      return performance.onResult(unsentStep(planned, 'unbound', describeUnbound(unbound), unbound))
    const text = rounds.complete(planned.turn, bound)
    if (typeof text !== 'string') return settleWith(this.#delayed.sendWhenReady(planned, text), performance)
    if (planned.message.kind === 'notification') {
      session.send(text)
      return performance.onResult(notificationStep(planned, text, now()))
    }
    const asked = new PlainRequest(planned, text, performance, this.#surroundings)
    calls.add(planned, this.#requests.send(session, asked))
  }
}

interface SenderContext {
  readonly late: DelayedSender
  readonly options: MessageSenderOptions
}

/** A request that is sent as recorded, for the first time. */
class PlainRequest implements RequestAttempt {
  readonly planned: PlannedMessage
  readonly transformed: TransformedMessage
  readonly retry = 0
  readonly #performance: SendCallbacks
  readonly #around: SenderContext

  constructor(planned: PlannedMessage, text: string, performance: SendCallbacks, around: SenderContext) {
    this.planned = planned
    this.#performance = performance
    this.transformed = { text, applied: NO_RULES_APPLIED, delay: 0, error: undefined, id: undefined }
    this.#around = around
  }

  onOutcome(heard: RequestOutcome): void {
    const { planned, transformed } = this
    const { late, options } = this.#around
    const result = judgeStep({ planned, heard, retries: 0, transformedBy: NO_RULES_APPLIED }, options)
    if (isUnchanged(result) || !late.shouldRetry(result)) this.#performance.onResult(result)
    else settleWith(late.retry(planned, transformed, result), this.#performance)
  }

  onFailure(error: unknown): void {
    this.#performance.onFailure(error)
  }
}

function settleWith(result: Promise<StepOutcome>, performance: SendCallbacks): void {
  result
    .then((outcome) => performance.onResult(outcome))
    .catch((error: unknown) => performance.onFailure(error))
}

function missingBefore(method: string): StepFinding {
  const isRequest = !method.startsWith('notifications/')
  const message = `${isRequest ? 'the request ' : ''}${method} of the server no longer comes before this`
  return { layer: 'order', level: isRequest ? 'error' : 'warn', message }
}
