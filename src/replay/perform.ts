import { setTimeout as sleep } from 'node:timers/promises'
import { replaceAt } from '../wire/members.ts'
import { inFull, isAsRecorded, type Outcome } from './as-recorded.ts'
import { Asking, GRACE, type AskingOptions } from './asking.ts'
import { judgedStep, type StepJudging } from './judged-step.ts'
import type { LiveSession } from './live-session.ts'
import type { Planned } from './plan.ts'
import { isCancellation } from './sent-calls.ts'
import type { StepResult } from './step-result.ts'
import { handedOn, notSent, type Heard } from './step-results.ts'
import { withMovedTimes } from './transform/timestamps.ts'
import { transform, type Transformed } from './transform/transform.ts'
import type { Finding } from './verdict/finding.ts'
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
}

/** What was found wrong while a message waited, and who is told what became of it. */
export interface Performance {
  readonly before: readonly Finding[]
  readonly onResult: (outcome: Outcome) => void
  readonly onFailure: (error: unknown) => void
}

/** Sends one message of the recorded client after the other, and says what became of each. */
export class Performer {
  readonly #options: PerformerOptions
  readonly #asking: Asking
  /** Whether messages are sent as recorded, but for their names and for values that are carried. */
  readonly #isPlain: boolean
  /** How many are still to be sent: nothing overtakes them. */
  #delayed = 0

  constructor(options: PerformerOptions) {
    this.#options = options
    this.#asking = new Asking(options)
    this.#isPlain = options.rules.length === 0 && options.moveTimes === undefined
  }

  /** Waits for what the server had said of its own accord when the message was sent. */
  async ready(planned: Planned): Promise<readonly Finding[]> {
    const { link, heard, fate } = planned
    if (fate.kind !== 'send') return []
    await this.#options.calls.untilToldBefore(planned, GRACE)
    if (heard.size === 0) return []
    const session = await this.#options.sessionOf(link)
    const missing = (await session.heard.until(heard, GRACE)).map(staysOut)
    return [...missing, ...(await this.#options.judgeUpdates({ link, then: heard, now: session.heard }))]
  }

  perform(planned: Planned, { before, onResult, onFailure }: Performance): void {
    const tell = before.length === 0 ? onResult : withFindings(before, planned, onResult)
    const { fate, link } = planned
    if (fate.kind !== 'send')
      return tell(notSent(planned, fate.kind === 'skip' ? 'skipped' : 'held', fate.why))
    const isPlain = this.#isPlain && this.#delayed === 0 && !isCancellation(planned)
    const session = isPlain ? this.#options.openSessionOf(link) : undefined
    if (session === undefined)
      this.#later((onSent) => this.#perform(planned, onSent))
        .then(tell)
        .catch(onFailure)
    else this.#performNow(planned, session, { onResult: tell, onFailure })
  }

  /** What would be sent now, but for its id; undefined when a value that it needs is not known. */
  preview(planned: Planned): string | undefined {
    const { text, unbound } = this.#options.carrier.bind(planned)
    if (unbound.length > 0) return undefined
    return this.#inTime(
      transform(text, planned, this.#options.rules, () => new Date()),
      planned,
    ).text
  }

  /** Stops waiting for what is never answered. */
  release(): void {
    this.#asking.release()
  }

  #performNow(planned: Planned, session: LiveSession, listener: Omit<Performance, 'before'>): void {
    const { onResult, onFailure } = listener
    const { text: bound, unbound } = this.#options.carrier.bind(planned)
    if (unbound.length > 0) return onResult(notSent(planned, 'unbound', whyUnbound(unbound), unbound))
    const text = this.#options.rounds.complete(planned.turn, bound)
    if (typeof text !== 'string') return this.#performWhole(planned, text, listener)
    if (planned.message.kind === 'notification') return onResult(this.#handOn(planned, text, session))
    const made = asItIs(text)
    const onHeard = (heard: Heard): void => {
      const result = judgedStep({ planned, heard, retries: 0, transformedBy: NO_NAMES }, this.#options)
      if (isAsRecorded(result) || !this.#isWorthARetry(result, 0)) onResult(result)
      else this.#again(planned, made, 1).then(onResult).catch(onFailure)
    }
    const call = this.#asking.ask(session, { planned, made, retry: 0 }, { onHeard, onFailure })
    this.#options.calls.add(planned, call)
  }

  /** With a text that is still to come. */
  #performWhole(planned: Planned, text: Promise<string>, listener: Omit<Performance, 'before'>): void {
    const { onResult, onFailure } = listener
    const result = this.#later(async (onSent) =>
      this.#request(planned, asItIs(await text), { retry: 0, onSent }),
    )
    result.then(onResult).catch(onFailure)
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
    const { text, unbound } = this.#options.carrier.bind(planned)
    if (unbound.length > 0) return notSent(planned, 'unbound', whyUnbound(unbound), unbound)
    const whole = this.#options.rounds.complete(planned.turn, text)
    const made = transform(
      typeof whole === 'string' ? whole : await whole,
      planned,
      this.#options.rules,
      () => new Date(),
    )
    if (made.delay > 0) await sleep(made.delay)
    const timely = this.#inTime(made, planned)
    return planned.message.kind === 'request'
      ? this.#request(planned, timely, { retry: 0, onSent })
      : this.#notify(planned, timely)
  }

  #inTime(made: Transformed, { at }: Planned): Transformed {
    const { moveTimes } = this.#options
    return moveTimes === undefined ? made : { ...made, text: withMovedTimes(made.text, moveTimes(at)) }
  }

  async #notify(planned: Planned, { text, applied }: Transformed): Promise<StepResult> {
    const session = await this.#options.sessionOf(planned.link)
    if (isCancellation(planned)) return this.#cancel(planned, text, session)
    return { ...this.#handOn(planned, text, session), transformedBy: applied }
  }

  #handOn(planned: Planned, text: string, session: LiveSession): StepResult {
    session.send(text)
    return handedOn(planned, text, this.#options.now())
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

  async #again(planned: Planned, made: Transformed, retry: number): Promise<StepResult> {
    await sleep(this.#options.retryDelay)
    return this.#request(planned, made, { retry, onSent: () => {} })
  }

  async #request(planned: Planned, made: Transformed, sending: Sending): Promise<StepResult> {
    const { retry } = sending
    const heard = await this.#ask(planned, made, sending)
    const outcome = judgedStep({ planned, heard, retries: retry, transformedBy: made.applied }, this.#options)
    const result = isAsRecorded(outcome) ? inFull(outcome, planned) : outcome
    return this.#isWorthARetry(result, retry) ? this.#again(planned, made, retry + 1) : result
  }

  #ask(planned: Planned, made: Transformed, { retry, onSent }: Sending): Promise<Heard> {
    return new Promise((resolve, reject) => {
      const listener = { onHeard: resolve, onFailure: reject }
      const call = this.#options
        .sessionOf(planned.link)
        .then((session) => this.#asking.ask(session, { planned, made, retry }, listener))
      call.then(onSent, reject)
      this.#options.calls.add(planned, call)
    })
  }

  #isWorthARetry({ state, findings }: StepResult, retry: number): boolean {
    if (retry >= this.#options.retries) return false
    const isLost = state === 'timeout' || state === 'lost'
    return (this.#options.retriesLost && isLost) || findings.some(({ retry: isWanted }) => isWanted === true)
  }
}

interface Sending {
  readonly retry: number
  readonly onSent: () => void
}

const NO_NAMES: readonly string[] = []

function asItIs(text: string): Transformed {
  return { text, applied: NO_NAMES, delay: 0, error: undefined, id: undefined }
}

function withFindings(
  before: readonly Finding[],
  planned: Planned,
  tell: (result: StepResult) => void,
): (outcome: Outcome) => void {
  return (outcome) => {
    const step = isAsRecorded(outcome) ? inFull(outcome, planned) : outcome
    tell({ ...step, findings: [...before, ...step.findings] })
  }
}

function staysOut(method: string): Finding {
  const isRequest = !method.startsWith('notifications/')
  const message = `${isRequest ? 'the request ' : ''}${method} of the server no longer comes before this`
  return { layer: 'order', level: isRequest ? 'error' : 'warn', message }
}

function whyUnbound(unbound: readonly { path: string; recorded: string; why: string }[]): string {
  return unbound.map(({ path, recorded, why }) => `${path} = ${JSON.stringify(recorded)}: ${why}`).join('; ')
}
