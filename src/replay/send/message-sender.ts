import { replaceValue } from '../../json/splice.ts'
import type { ReplayController } from '../controller.ts'
import type { StepFinding } from '../judge/judged-answer.ts'
import type { ResourceUpdatesJudge } from '../judge/resource-updates.ts'
import { SERVER_GRACE } from '../options.ts'
import { type PlannedMessage, isCancellation } from '../plan/plan.ts'
import { RequestSender, type RequestAttempt, type RequestSenderOptions } from './request-sender.ts'
import type { LiveSession } from '../session/live-session.ts'
import {
  judgeStep,
  notificationStep,
  type ReplayStep,
  RUN_STOPPED,
  type SentRequest,
  type StepJudgeOptions,
  unsentStep,
} from '../steps/step.ts'
import { applyRules, type TransformedMessage, withMovedTimes } from '../transform/transform.ts'

/** Takes what becomes of a message. */
export interface SendCallbacks {
  onResult(step: ReplayStep, sent?: SentRequest): void
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

  onOutcome(sent: SentRequest): void {
    const { planned, transformed } = this
    const { late, options } = this.#around
    const step = judgeStep(sent, { retries: 0, transformedBy: NO_RULES_APPLIED }, options)
    if (!late.shouldRetry(step)) this.#performance.onResult(step, sent)
    else settleWith(late.retry(planned, transformed, step), this.#performance)
  }

  onFailure(error: unknown): void {
    this.#performance.onFailure(error)
  }
}

function settleWith(result: Promise<ReplayStep>, performance: SendCallbacks): void {
  result
    .then((outcome) => performance.onResult(outcome))
    .catch((error: unknown) => performance.onFailure(error))
}

function missingBefore(method: string): StepFinding {
  const isRequest = !method.startsWith('notifications/')
  const message = `${isRequest ? 'the request ' : ''}${method} of the server no longer comes before this`
  return { layer: 'order', level: isRequest ? 'error' : 'warn', message }
}

interface MessageSenderOptions extends RequestSenderOptions, StepJudgeOptions {
  readonly sessionOf: (link: string) => Promise<LiveSession>
  /** The session of a link when it is open already. */
  readonly openSessionOf: (link: string) => LiveSession | undefined
  readonly judgeUpdates: ResourceUpdatesJudge['judge']
  /** Milliseconds by which points in time are moved that were sent at this moment of the tape. */
  readonly moveTimes?: (at: number) => number
  /** How often at most a request is sent again, and whether it is when no answer came. */
  readonly retries: number
  readonly retriesLost: boolean
  readonly retryDelay: number
  /** Nothing is waited for, and nothing sent, when the run is stopped. */
  readonly controller: Pick<ReplayController, 'status' | 'wait'>
}

/** Sends what waits for something first, is changed on its way, or is sent again. */
class DelayedSender {
  readonly #options: MessageSenderOptions
  readonly #requests: RequestSender
  /** How many are still to be sent: nothing overtakes them. */
  #waiting = 0

  constructor(options: MessageSenderOptions, asking: RequestSender) {
    this.#options = options
    this.#requests = asking
  }

  get isBusy(): boolean {
    return this.#waiting > 0
  }

  send(planned: PlannedMessage): Promise<ReplayStep> {
    return this.#holdingOrder((onSent) => this.#prepareAndSend(planned, onSent))
  }

  /** With a text that is still to come. */
  sendWhenReady(planned: PlannedMessage, text: Promise<string>): Promise<ReplayStep> {
    return this.#holdingOrder(async (onSent) => {
      const made = { text: await text, applied: NO_RULES_APPLIED, delay: 0, error: undefined, id: undefined }
      return this.#sendAndJudge(planned, made, { onSent })
    })
  }

  /** A run that is stopped meanwhile sends nothing more: then the last attempt stands. */
  async retry(planned: PlannedMessage, made: TransformedMessage, last: ReplayStep): Promise<ReplayStep> {
    const { controller, retryDelay } = this.#options
    if (!(await controller.wait(retryDelay))) return last
    return this.#sendAndJudge(planned, made, { last, onSent: () => {} })
  }

  shouldRetry({ state, findings, retries }: ReplayStep): boolean {
    if (retries >= this.#options.retries) return false
    const isLost = state === 'timeout' || state === 'lost'
    return (this.#options.retriesLost && isLost) || findings.some(({ retry: isWanted }) => isWanted === true)
  }

  shiftTimes(made: TransformedMessage, { at }: PlannedMessage): TransformedMessage {
    const { moveTimes } = this.#options
    return moveTimes === undefined ? made : { ...made, text: withMovedTimes(made.text, moveTimes(at)) }
  }

  get #isStopped(): boolean {
    return this.#options.controller.status === 'stopped'
  }

  async #holdingOrder(perform: (onSent: () => void) => Promise<ReplayStep>): Promise<ReplayStep> {
    this.#waiting++
    let isSent = false
    const onSent = (): void => {
      if (!isSent) this.#waiting--
      isSent = true
    }
    return perform(onSent).finally(onSent)
  }

  async #prepareAndSend(planned: PlannedMessage, onSent: () => void): Promise<ReplayStep> {
    const { carrier, rounds, rules, controller } = this.#options
    const { text, unbound } = carrier.fill(planned)
    if (unbound.length > 0) return unsentStep(planned, 'unbound', describeUnbound(unbound), unbound)
    const whole = rounds.complete(planned.turn, text)
    const made = applyRules(typeof whole === 'string' ? whole : await whole, planned, rules, () => new Date())
    if (made.delay > 0 && !(await controller.wait(made.delay))) return skippedByStop(planned)
    const timely = this.shiftTimes(made, planned)
    return planned.message.kind === 'request'
      ? this.#sendAndJudge(planned, timely, { onSent })
      : this.#notify(planned, timely)
  }

  async #notify(planned: PlannedMessage, made: TransformedMessage): Promise<ReplayStep> {
    const session = await this.#options.sessionOf(planned.link)
    if (this.#isStopped) return skippedByStop(planned)
    if (isCancellation(planned)) return this.#cancel(planned, made, session)
    const { text, applied } = made
    session.send(text)
    return { ...notificationStep(planned, text, this.#options.now()), transformedBy: applied }
  }

  async #cancel(
    planned: PlannedMessage,
    { text, applied }: TransformedMessage,
    session: LiveSession,
  ): Promise<ReplayStep> {
    const call = await this.#options.calls.cancelledBy(planned)
    if (call === 'over' || (call !== undefined && call.isOver))
      return unsentStep(planned, 'skipped', 'the request that it cancels was already answered')
    if (call === undefined) return unsentStep(planned, 'skipped', 'the request that it cancels was not sent')
    const live = replaceValue(text, ['params', 'requestId'], JSON.stringify(call.id))
    if (!session.abort(call.id)) session.send(live)
    this.#requests.release(call)
    return { ...notificationStep(planned, live, this.#options.now()), transformedBy: applied }
  }

  async #sendAndJudge(
    planned: PlannedMessage,
    made: TransformedMessage,
    sending: SendAttempt,
  ): Promise<ReplayStep> {
    const { last } = sending
    const retries = last === undefined ? 0 : last.retries + 1
    const heard = await this.#sendRequest(planned, made, { ...sending, retry: retries })
    if (heard === undefined) return last ?? skippedByStop(planned)
    const result = judgeStep(heard, { retries, transformedBy: made.applied }, this.#options)
    return this.shouldRetry(result) ? this.retry(planned, made, result) : result
  }

  /** Undefined when the run was stopped before it could be sent. */
  #sendRequest(
    planned: PlannedMessage,
    transformed: TransformedMessage,
    { retry, onSent }: SendAttempt & { retry: number },
  ): Promise<SentRequest | undefined> {
    return new Promise((onOutcome, onFailure) => {
      const call = this.#options.sessionOf(planned.link).then((session) => {
        if (!this.#isStopped)
          return this.#requests.send(session, {
            planned,
            transformed,
            retry,
            onOutcome,
            onFailure,
          })
        onOutcome(undefined)
        return undefined
      })
      call.then(onSent, onFailure)
      this.#options.calls.add(planned, call)
    })
  }
}

interface SendAttempt {
  /** What came of the attempt before this one. */
  readonly last?: ReplayStep
  readonly onSent: () => void
}

function skippedByStop(planned: PlannedMessage): ReplayStep {
  return unsentStep(planned, 'skipped', RUN_STOPPED)
}

const NO_RULES_APPLIED: readonly string[] = []

function describeUnbound(unbound: readonly { path: string; recorded: string; why: string }[]): string {
  return unbound.map(({ path, recorded, why }) => `${path} = ${JSON.stringify(recorded)}: ${why}`).join('; ')
}
