import type { ReplayController } from '../controller.ts'
import { type ReplayOptions, SERVER_GRACE } from '../options.ts'
import type { PlannedMessage, ReplayPlan, TrailingNotifications } from '../plan/plan.ts'
import type { LiveNotifications } from '../session/live-notifications.ts'
import type { Peer } from '../session/peer.ts'
import { hasFailed, type ReplayStep } from '../steps/step.ts'
import type { CarriedValues } from '../values/carried-values.ts'
import type { JudgeOptions } from './comparison-rules.ts'
import { NO_FINDINGS, type StepFinding } from './judged-answer.ts'
import { ResourceUpdatesJudge } from './resource-updates.ts'

interface UnsolicitedMessagesContext {
  readonly options: JudgeOptions &
    Pick<ReplayOptions, 'onError' | 'signal'> & { readonly controller: ReplayController }
  readonly plan: ReplayPlan
  readonly peer: Peer
  readonly values: CarriedValues
}

/** Checks the messages that the server sends on its own: those before a message of the client, and those after the last one. */
export class UnsolicitedMessages {
  readonly #options: UnsolicitedMessagesContext['options']
  readonly #peer: Peer
  readonly #updates: ResourceUpdatesJudge
  /** What the server sent after the last message of each link, by the index of that message. */
  readonly #expectedAfter: ReadonlyMap<number, TrailingNotifications>
  readonly #deferred: ReplayStep[] = []

  constructor({ options, plan, peer, values }: UnsolicitedMessagesContext) {
    this.#options = options
    this.#peer = peer
    this.#updates = new ResourceUpdatesJudge({
      judging: options,
      isLiveValue: (expected, actual, path) => values.explains(expected, actual, path),
      recordedOn: (link) => plan.resourceUpdatesOn(link),
      grace: SERVER_GRACE,
    })
    this.#expectedAfter = options.validate === false ? new Map() : plan.trailingNotifications()
  }

  /** Waits for the messages that the server had sent before this one when it was recorded. */
  async waitBefore({ link, heard }: PlannedMessage): Promise<readonly StepFinding[]> {
    if (heard.size === 0) return NO_FINDINGS
    const { notifications } = await this.#peer.sessionOf(link)
    const missing = (await notifications.waitForCounts(heard, SERVER_GRACE)).map(missingBefore)
    const updates = await this.#updates.judge({ link, wanted: heard, now: notifications })
    return [...missing, ...updates]
  }

  /** Takes the step of the last message of a link: it is reported when the server has sent what followed. */
  defer(step: ReplayStep): boolean {
    if (!this.#expectedAfter.has(step.index) || !wasSent(step)) return false
    if (this.#options.onError === 'pause' && hasFailed(step)) return false // the user looks at it before the run continues
    this.#deferred.push(step)
    return true
  }

  /** Returns the deferred steps, with findings about what the server did not send. */
  finish(): Promise<readonly ReplayStep[]> {
    return Promise.all(this.#deferred.splice(0).map((step) => this.#settle(step)))
  }

  async #settle(step: ReplayStep): Promise<ReplayStep> {
    const expected = this.#expectedAfter.get(step.index)
    const session = expected && this.#peer.openSessionOf(expected.link)
    if (expected === undefined || session === undefined || this.#isStopped) return step
    const found = await this.#missingAfter(expected, session.notifications)
    if (found.length === 0 || this.#isStopped) return step
    return { ...step, findings: [...step.findings, ...found] }
  }

  async #missingAfter(
    { link, counts: wanted }: TrailingNotifications,
    now: LiveNotifications,
  ): Promise<readonly StepFinding[]> {
    const level = this.#options.strict === true ? 'error' : 'warn'
    const missing = (await now.waitForCounts(wanted, SERVER_GRACE)).map((method) =>
      missingAfter(method, level),
    )
    return [...missing, ...(await this.#updates.judge({ link, wanted, now }))]
  }

  get #isStopped(): boolean {
    return this.#options.signal?.aborted === true || this.#options.controller.status === 'stopped'
  }
}

function wasSent({ sentAt, isInjected }: ReplayStep): boolean {
  return sentAt !== undefined && isInjected !== true
}

function missingBefore(method: string): StepFinding {
  const isRequest = !method.startsWith('notifications/')
  const message = `${isRequest ? 'the request ' : ''}${method} of the server no longer comes before this`
  return { layer: 'order', level: isRequest ? 'error' : 'warn', message }
}

function missingAfter(method: string, level: StepFinding['level']): StepFinding {
  return { layer: 'order', level, message: `${method} of the server no longer comes after this` }
}
