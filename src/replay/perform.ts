import { setTimeout as sleep } from 'node:timers/promises'
import type { Id } from '../wire/id.ts'
import { replaceAt } from '../wire/members.ts'
import { acceptable } from './accepted.ts'
import type { Carrier } from './carrier.ts'
import { deferred, type Aside, type CallEnd, type LiveCall } from './live-call.ts'
import type { LiveSession } from './live-session.ts'
import { movedAsks } from './moved-asks.ts'
import { withFreshNames } from './outgoing.ts'
import { isOpenEnded, type Planned } from './plan.ts'
import type { RoundInputs } from './round-inputs.ts'
import { bytesAroundId } from './same-bytes.ts'
import { isCancellation, SentCalls } from './sent-calls.ts'
import type { StepResult } from './step-result.ts'
import { answered, handedOn, notSent, type Heard } from './step-results.ts'
import type { TransformRule } from './transform/rule.ts'
import { withMovedTimes } from './transform/timestamps.ts'
import { transform, transformAnswer, type Transformed } from './transform/transform.ts'
import type { Finding } from './verdict/finding.ts'
import type { Judgement } from './verdict/judge.ts'
import { judgedOf, type Judged } from './verdict/judged.ts'

export interface PerformerOptions {
  readonly sessionOf: (link: string) => Promise<LiveSession>
  readonly carrier: Carrier
  readonly rounds: RoundInputs
  readonly rules: readonly TransformRule[]
  /** Milliseconds by which points in time are moved that were sent at this moment of the tape. */
  readonly moveTimes?: (at: number) => number
  /** A fault in the place of the answer. */
  readonly inject?: () => CallEnd | undefined
  readonly judge: (judged: Judged) => Judgement
  readonly timeout: number
  /** How often at most a request is sent again, and whether it is when no answer came. */
  readonly retries: number
  readonly retriesLost: boolean
  readonly retryDelay: number
  /** Whether recorded ids are sent. */
  readonly keepsIds: boolean
  readonly now: () => number
}

/** Sends one message of the recorded client after the other, and says what became of each. */
export class Performer {
  readonly #options: PerformerOptions
  readonly #calls = new SentCalls()
  /** Those that were never answered when they were recorded, and how to stop waiting for them. */
  readonly #endless = new Map<LiveCall, () => void>()

  constructor(options: PerformerOptions) {
    this.#options = options
  }

  /** Waits for what the server had said of its own accord when the message was sent. */
  async ready(planned: Planned): Promise<readonly Finding[]> {
    const { link, heard, fate } = planned
    if (fate.kind !== 'send') return []
    await this.#calls.untilToldBefore(planned, GRACE)
    if (heard.size === 0) return []
    const session = await this.#options.sessionOf(link)
    return (await session.heard.until(heard, GRACE)).map(staysOut)
  }

  /** `before` is what was found wrong while it waited. */
  perform(planned: Planned, before: readonly Finding[] = []): Promise<StepResult> {
    const result = this.#perform(planned)
    return before.length === 0
      ? result
      : result.then((step) => ({ ...step, findings: [...before, ...step.findings] }))
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
    for (const stop of this.#endless.values()) stop()
  }

  async #perform(planned: Planned): Promise<StepResult> {
    const { fate } = planned
    if (fate.kind !== 'send') return notSent(planned, fate.kind === 'skip' ? 'skipped' : 'held', fate.why)
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
    return planned.message.kind === 'request' ? this.#request(planned, timely) : this.#notify(planned, timely)
  }

  #inTime(made: Transformed, { at }: Planned): Transformed {
    const { moveTimes } = this.#options
    return moveTimes === undefined ? made : { ...made, text: withMovedTimes(made.text, moveTimes(at)) }
  }

  async #notify(planned: Planned, { text, applied }: Transformed): Promise<StepResult> {
    const session = await this.#options.sessionOf(planned.link)
    if (isCancellation(planned)) return this.#cancel(planned, text, session)
    session.send(text)
    return { ...handedOn(planned, text, this.#options.now()), transformedBy: applied }
  }

  async #cancel(planned: Planned, text: string, session: LiveSession): Promise<StepResult> {
    const call = await this.#calls.cancelledBy(planned)
    if (call === 'over' || (call !== undefined && call.isOver))
      return notSent(planned, 'skipped', 'the request that it cancels was already answered')
    if (call === undefined) return notSent(planned, 'skipped', 'the request that it cancels was not sent')
    const live = replaceAt(text, ['params', 'requestId'], JSON.stringify(call.id))
    if (!session.abort(call.id)) session.send(live)
    this.#endless.get(call)?.()
    return handedOn(planned, live, this.#options.now())
  }

  async #request(planned: Planned, made: Transformed): Promise<StepResult> {
    for (let retry = 0; ; retry++) {
      const heard = await this.#ask(planned, made, retry)
      const result = this.#judged(planned, heard, { retries: retry, transformedBy: made.applied })
      if (retry >= this.#options.retries || !this.#isWorthARetry(result)) return result
      await sleep(this.#options.retryDelay)
    }
  }

  async #ask(planned: Planned, made: Transformed, retry: number): Promise<Heard> {
    const sent = deferred<LiveCall | undefined>()
    this.#calls.add(planned, sent.promise)
    const session = await this.#options.sessionOf(planned.link)
    const id = made.id ?? this.#nextId(planned, session, retry)
    const { text, token } = withFreshNames(made.text, id)
    const fault = made.error === undefined ? this.#options.inject?.() : answerOf(id, made.error)
    if (fault !== undefined) {
      sent.resolve(undefined)
      return injected(text, fault, this.#options.now())
    }
    const expected = planned.turn.response && bytesAroundId(planned.turn.response.text)
    const timeout = isOpenEnded(planned) ? Infinity : this.#options.timeout
    const call = session.call({ text, id, token, timeout, ...(expected && { expected }) })
    sent.resolve(call)
    const end = await (isOpenEnded(planned) ? this.#untilReleased(call) : call.done)
    if (call.isOver) this.#calls.forget(planned)
    const { sentAt, endedAt, asides } = call
    const changed = this.#changedAnswer(planned, end)
    if (changed.kind === 'answered') this.#learn(planned, changed.text, asides)
    const moved = await movedAsks(planned, asides, { heard: session.heard, grace: GRACE })
    return { end: changed, sent: text, sentAt, endedAt, asides, moved }
  }

  /** The recorded id is not sent while it is in use, or again: connections of a tape may share a link. */
  #nextId({ message }: Planned, session: LiveSession, retry: number): Id {
    if (!this.#options.keepsIds || message.kind !== 'request') return session.nextId()
    if (retry === 0 && !session.hasOpen(message.id)) return message.id
    return `__again_${session.nextId()}__` // a number might be the recorded id of another request
  }

  async #untilReleased(call: LiveCall): Promise<CallEnd> {
    const released = new Promise<CallEnd>((resolve) => {
      this.#endless.set(call, () => resolve({ kind: 'open' }))
    })
    const end = await Promise.race([call.done, released])
    this.#endless.delete(call)
    return end
  }

  #learn(planned: Planned, answer: string, asides: readonly Aside[]): void {
    this.#options.rounds.heard(planned.turn, answer)
    this.#options.carrier.learn(planned, [...asides.map(({ text }) => text), answer])
  }

  #changedAnswer({ index, tool, message }: Planned, end: Heard['end']): Heard['end'] {
    if (end.kind !== 'answered' || this.#options.rules.length === 0) return end
    const text = transformAnswer(end.text, { index, tool, message }, this.#options.rules)
    return text === end.text ? end : { kind: 'answered', text, asRecorded: false }
  }

  #isWorthARetry({ state, findings }: StepResult): boolean {
    const isLost = state === 'timeout' || state === 'lost'
    return (this.#options.retriesLost && isLost) || findings.some(({ retry }) => retry === true)
  }

  #judged(
    planned: Planned,
    heard: Heard,
    past: { readonly retries: number; readonly transformedBy: readonly string[] },
  ): StepResult {
    const { end, asides, moved, sentAt, endedAt } = heard
    const { turn, tool } = planned
    const duration = endedAt === undefined ? undefined : endedAt - sentAt
    const judged = judgedOf({ turn, tool, end, asides, moved, duration })
    const { findings, judgedBy } = this.#options.judge(judged)
    const { retries, transformedBy } = past
    const result = answered(planned, heard, { findings, judgedBy, transformedBy, retries, judged })
    if (end.kind !== 'answered' || result.findings.length === 0) return result
    const accept = acceptable(turn, end.text, this.#options.carrier)
    return accept === undefined ? result : { ...result, acceptable: accept }
  }
}

const GRACE = 2000

function staysOut(method: string): Finding {
  const isRequest = !method.startsWith('notifications/')
  const message = `${isRequest ? 'the request ' : ''}${method} of the server no longer comes before this`
  return { layer: 'order', level: isRequest ? 'error' : 'warn', message }
}

function whyUnbound(unbound: readonly { path: string; recorded: string; why: string }[]): string {
  return unbound.map(({ path, recorded, why }) => `${path} = ${JSON.stringify(recorded)}: ${why}`).join('; ')
}

function answerOf(id: Id, error: NonNullable<Transformed['error']>): CallEnd {
  return { kind: 'answered', text: JSON.stringify({ jsonrpc: '2.0', id, error }), asRecorded: false }
}

function injected(text: string, end: CallEnd, now: number): Heard {
  return { end, sent: text, sentAt: now, endedAt: now, asides: [], moved: new Set(), isInjected: true }
}
