import type { Outcome } from './as-recorded.ts'
import { isAsRecorded } from './as-recorded.ts'
import { Asking, type Asked } from './asking.ts'
import { judgedStep } from './judged-step.ts'
import { LatePerformer, NO_NAMES, whyUnbound, type PerformerOptions } from './late-performer.ts'
import type { LiveSession } from './live-session.ts'
import type { Planned } from './plan.ts'
import { GRACE } from './prepare-options.ts'
import { isCancellation } from './sent-calls.ts'
import { handedOn, notSent, type Heard } from './step-results.ts'
import { transform, type Transformed } from './transform/transform.ts'
import type { Finding } from './verdict/finding.ts'

/** Takes what becomes of a message. */
export interface Performance {
  onResult(outcome: Outcome): void
  onFailure(error: unknown): void
}

/** Sends one message of the recorded client after the other, and says what became of each. */
export class Performer {
  readonly #options: PerformerOptions
  readonly #asking: Asking
  /** For all that is not sent at once and as recorded. */
  readonly #late: LatePerformer
  readonly #surroundings: Surroundings
  /** Whether messages are sent as recorded, but for their names and for values that are carried. */
  readonly #isPlain: boolean

  constructor(options: PerformerOptions) {
    this.#options = options
    this.#asking = new Asking(options)
    this.#late = new LatePerformer(options, this.#asking)
    this.#surroundings = { late: this.#late, options }
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
    return [...missing, ...(await this.#options.judgeUpdates({ link, wanted: heard, now: session.heard }))]
  }

  perform(planned: Planned, performance: Performance): void {
    const { fate, link } = planned
    if (fate.kind !== 'send')
      return performance.onResult(notSent(planned, fate.kind === 'skip' ? 'skipped' : 'held', fate.why))
    const isPlain = this.#isPlain && !this.#late.isBusy && !isCancellation(planned)
    const session = isPlain ? this.#options.openSessionOf(link) : undefined
    if (session === undefined) tell(this.#late.perform(planned), performance)
    else this.#performNow(planned, session, performance)
  }

  /** What would be sent now, but for its id; undefined when a value that it needs is not known. */
  preview(planned: Planned): string | undefined {
    const { text, unbound } = this.#options.carrier.bind(planned)
    if (unbound.length > 0) return undefined
    return this.#late.inTime(
      transform(text, planned, this.#options.rules, () => new Date()),
      planned,
    ).text
  }

  /** Stops waiting for what is never answered. */
  release(): void {
    this.#asking.release()
  }

  #performNow(planned: Planned, session: LiveSession, performance: Performance): void {
    const { carrier, rounds, calls, now } = this.#options
    const { text: bound, unbound } = carrier.bind(planned)
    if (unbound.length > 0)
      return performance.onResult(notSent(planned, 'unbound', whyUnbound(unbound), unbound))
    const text = rounds.complete(planned.turn, bound)
    if (typeof text !== 'string') return tell(this.#late.request(planned, text), performance)
    if (planned.message.kind === 'notification') {
      session.send(text)
      return performance.onResult(handedOn(planned, text, now()))
    }
    const asked = new PlainRequest(planned, text, performance, this.#surroundings)
    calls.add(planned, this.#asking.ask(session, asked))
  }
}

interface Surroundings {
  readonly late: LatePerformer
  readonly options: PerformerOptions
}

/** A request that is sent as recorded, for the first time. */
class PlainRequest implements Asked {
  readonly planned: Planned
  readonly made: Transformed
  readonly retry = 0
  readonly #performance: Performance
  readonly #around: Surroundings

  constructor(planned: Planned, text: string, performance: Performance, around: Surroundings) {
    this.planned = planned
    this.#performance = performance
    this.made = { text, applied: NO_NAMES, delay: 0, error: undefined, id: undefined }
    this.#around = around
  }

  onHeard(heard: Heard): void {
    const { planned, made } = this
    const { late, options } = this.#around
    const result = judgedStep({ planned, heard, retries: 0, transformedBy: NO_NAMES }, options)
    if (isAsRecorded(result) || !late.isWorthARetry(result, 0)) this.#performance.onResult(result)
    else tell(late.again(planned, made, 1), this.#performance)
  }

  onFailure(error: unknown): void {
    this.#performance.onFailure(error)
  }
}

function tell(result: Promise<Outcome>, performance: Performance): void {
  result
    .then((outcome) => performance.onResult(outcome))
    .catch((error: unknown) => performance.onFailure(error))
}

function staysOut(method: string): Finding {
  const isRequest = !method.startsWith('notifications/')
  const message = `${isRequest ? 'the request ' : ''}${method} of the server no longer comes before this`
  return { layer: 'order', level: isRequest ? 'error' : 'warn', message }
}
