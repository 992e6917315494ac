import { replaceValue } from '../json/find.ts'
import { expandStep, isUnchanged } from './as-recorded.ts'
import type { RequestSender, RequestSenderOptions } from './send/request-sender.ts'
import type { ReplayController } from './controller.ts'
import { judgeStep, type StepJudgeOptions } from './judged-step.ts'
import type { LiveSession } from './session/live-session.ts'
import type { PlannedMessage } from './plan/plan.ts'
import { isCancellation } from './sent-calls.ts'
import { RUN_STOPPED, type ReplayStep } from './steps/step.ts'
import { notificationStep, unsentStep, type RequestOutcome } from './step-results.ts'
import { withMovedTimes } from './transform/timestamps.ts'
import { applyRules, type TransformedMessage } from './transform/transform.ts'
import type { ResourceUpdatesJudge } from './judge/resource-updates.ts'

export interface MessageSenderOptions extends RequestSenderOptions, StepJudgeOptions {
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
export class DelayedSender {
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

  async #notify(planned: PlannedMessage, { text, applied }: TransformedMessage): Promise<ReplayStep> {
    const session = await this.#options.sessionOf(planned.link)
    if (this.#isStopped) return skippedByStop(planned)
    if (isCancellation(planned)) return this.#cancel(planned, text, session)
    session.send(text)
    return { ...notificationStep(planned, text, this.#options.now()), transformedBy: applied }
  }

  async #cancel(planned: PlannedMessage, text: string, session: LiveSession): Promise<ReplayStep> {
    const call = await this.#options.calls.cancelledBy(planned)
    if (call === 'over' || (call !== undefined && call.isOver))
      return unsentStep(planned, 'skipped', 'the request that it cancels was already answered')
    if (call === undefined) return unsentStep(planned, 'skipped', 'the request that it cancels was not sent')
    const live = replaceValue(text, ['params', 'requestId'], JSON.stringify(call.id))
    if (!session.abort(call.id)) session.send(live)
    this.#requests.release(call)
    return notificationStep(planned, live, this.#options.now())
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
    const outcome = judgeStep({ planned, heard, retries, transformedBy: made.applied }, this.#options)
    const result = isUnchanged(outcome) ? expandStep(outcome, planned) : outcome
    return this.shouldRetry(result) ? this.retry(planned, made, result) : result
  }

  /** Undefined when the run was stopped before it could be sent. */
  #sendRequest(
    planned: PlannedMessage,
    transformed: TransformedMessage,
    { retry, onSent }: SendAttempt & { retry: number },
  ): Promise<RequestOutcome | undefined> {
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

export const NO_RULES_APPLIED: readonly string[] = []

export function describeUnbound(unbound: readonly { path: string; recorded: string; why: string }[]): string {
  return unbound.map(({ path, recorded, why }) => `${path} = ${JSON.stringify(recorded)}: ${why}`).join('; ')
}
