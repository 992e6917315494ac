import { replaceAt } from '../wire/members.ts'
import { inFull, isAsRecorded } from './as-recorded.ts'
import type { Asking, AskingOptions } from './asking.ts'
import type { Controller } from './controller.ts'
import { judgedStep, type StepJudging } from './judged-step.ts'
import type { LiveSession } from './live-session.ts'
import type { Planned } from './plan.ts'
import { isCancellation } from './sent-calls.ts'
import { WAS_STOPPED, type StepResult } from './step-result.ts'
import { handedOn, notSent, type Heard } from './step-results.ts'
import { withMovedTimes } from './transform/timestamps.ts'
import { transform, type Transformed } from './transform/transform.ts'
import type { UpdatesJudge } from './verdict/updates.ts'

export interface PerformerOptions extends AskingOptions, StepJudging {
  readonly sessionOf: (link: string) => Promise<LiveSession>
  /** The session of a link when it is open already. */
  readonly openSessionOf: (link: string) => LiveSession | undefined
  readonly judgeUpdates: UpdatesJudge['judge']
  /** Milliseconds by which points in time are moved that were sent at this moment of the tape. */
  readonly moveTimes?: (at: number) => number
  /** How often at most a request is sent again, and whether it is when no answer came. */
  readonly retries: number
  readonly retriesLost: boolean
  readonly retryDelay: number
  /** Nothing is waited for, and nothing sent, when the run is stopped. */
  readonly controller: Pick<Controller, 'status' | 'wait'>
}

/** Sends what waits for something first, is changed on its way, or is sent again. */
export class LatePerformer {
  readonly #options: PerformerOptions
  readonly #asking: Asking
  /** How many are still to be sent: nothing overtakes them. */
  #delayed = 0

  constructor(options: PerformerOptions, asking: Asking) {
    this.#options = options
    this.#asking = asking
  }

  get isBusy(): boolean {
    return this.#delayed > 0
  }

  perform(planned: Planned): Promise<StepResult> {
    return this.#later((onSent) => this.#perform(planned, onSent))
  }

  /** With a text that is still to come. */
  request(planned: Planned, text: Promise<string>): Promise<StepResult> {
    return this.#later(async (onSent) => {
      const made = { text: await text, applied: NO_NAMES, delay: 0, error: undefined, id: undefined }
      return this.#request(planned, made, { onSent })
    })
  }

  /** A run that is stopped meanwhile sends nothing more: then the last attempt stands. */
  async again(planned: Planned, made: Transformed, last: StepResult): Promise<StepResult> {
    const { controller, retryDelay } = this.#options
    if (!(await controller.wait(retryDelay))) return last
    return this.#request(planned, made, { last, onSent: () => {} })
  }

  isWorthARetry({ state, findings, retries }: StepResult): boolean {
    if (retries >= this.#options.retries) return false
    const isLost = state === 'timeout' || state === 'lost'
    return (this.#options.retriesLost && isLost) || findings.some(({ retry: isWanted }) => isWanted === true)
  }

  inTime(made: Transformed, { at }: Planned): Transformed {
    const { moveTimes } = this.#options
    return moveTimes === undefined ? made : { ...made, text: withMovedTimes(made.text, moveTimes(at)) }
  }

  get #isStopped(): boolean {
    return this.#options.controller.status === 'stopped'
  }

  async #later(perform: (onSent: () => void) => Promise<StepResult>): Promise<StepResult> {
    this.#delayed++
    let isSent = false
    const onSent = (): void => {
      if (!isSent) this.#delayed--
      isSent = true
    }
    return perform(onSent).finally(onSent)
  }

  async #perform(planned: Planned, onSent: () => void): Promise<StepResult> {
    const { carrier, rounds, rules, controller } = this.#options
    const { text, unbound } = carrier.bind(planned)
    if (unbound.length > 0) return notSent(planned, 'unbound', whyUnbound(unbound), unbound)
    const whole = rounds.complete(planned.turn, text)
    const made = transform(typeof whole === 'string' ? whole : await whole, planned, rules, () => new Date())
    if (made.delay > 0 && !(await controller.wait(made.delay))) return stopped(planned)
    const timely = this.inTime(made, planned)
    return planned.message.kind === 'request'
      ? this.#request(planned, timely, { onSent })
      : this.#notify(planned, timely)
  }

  async #notify(planned: Planned, { text, applied }: Transformed): Promise<StepResult> {
    const session = await this.#options.sessionOf(planned.link)
    if (this.#isStopped) return stopped(planned)
    if (isCancellation(planned)) return this.#cancel(planned, text, session)
    session.send(text)
    return { ...handedOn(planned, text, this.#options.now()), transformedBy: applied }
  }

  async #cancel(planned: Planned, text: string, session: LiveSession): Promise<StepResult> {
    const call = await this.#options.calls.cancelledBy(planned)
    if (call === 'over' || (call !== undefined && call.isOver))
      return notSent(planned, 'skipped', 'the request that it cancels was already answered')
    if (call === undefined) return notSent(planned, 'skipped', 'the request that it cancels was not sent')
    const live = replaceAt(text, ['params', 'requestId'], JSON.stringify(call.id))
    if (!session.abort(call.id)) session.send(live)
    this.#asking.release(call)
    return handedOn(planned, live, this.#options.now())
  }

  async #request(planned: Planned, made: Transformed, sending: Sending): Promise<StepResult> {
    const { last } = sending
    const retries = last === undefined ? 0 : last.retries + 1
    const heard = await this.#ask(planned, made, { ...sending, retry: retries })
    if (heard === undefined) return last ?? stopped(planned)
    const outcome = judgedStep({ planned, heard, retries, transformedBy: made.applied }, this.#options)
    const result = isAsRecorded(outcome) ? inFull(outcome, planned) : outcome
    return this.isWorthARetry(result) ? this.again(planned, made, result) : result
  }

  /** Undefined when the run was stopped before it could be sent. */
  #ask(
    planned: Planned,
    made: Transformed,
    { retry, onSent }: Sending & { retry: number },
  ): Promise<Heard | undefined> {
    return new Promise((onHeard, onFailure) => {
      const call = this.#options.sessionOf(planned.link).then((session) => {
        if (!this.#isStopped) return this.#asking.ask(session, { planned, made, retry, onHeard, onFailure })
        onHeard(undefined)
        return undefined
      })
      call.then(onSent, onFailure)
      this.#options.calls.add(planned, call)
    })
  }
}

interface Sending {
  /** What came of the attempt before this one. */
  readonly last?: StepResult
  readonly onSent: () => void
}

function stopped(planned: Planned): StepResult {
  return notSent(planned, 'skipped', WAS_STOPPED)
}

export const NO_NAMES: readonly string[] = []

export function whyUnbound(unbound: readonly { path: string; recorded: string; why: string }[]): string {
  return unbound.map(({ path, recorded, why }) => `${path} = ${JSON.stringify(recorded)}: ${why}`).join('; ')
}
