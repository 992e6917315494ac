import { hasFailed, type ReplayStep } from '../steps/step.ts'
import type { LiveNotifications } from '../session/live-notifications.ts'
import type { TrailingNotifications, ReplayPlan } from '../plan/plan.ts'
import type { StepFinding } from './judged-answer.ts'
import type { ResourceUpdatesJudge } from './resource-updates.ts'

interface TrailingChecksOptions {
  readonly plan: ReplayPlan
  readonly notificationsOn: (link: string) => LiveNotifications | undefined
  /** Milliseconds that the server may be late. */
  readonly grace: number
  /** Whether somebody looks at a step that failed before the run goes on. */
  readonly pausesOnFailure: boolean
  readonly isStrict: boolean
  readonly isStopped: () => boolean
  readonly judgeUpdates: ResourceUpdatesJudge['judge']
}

/** Holds back what became of the last message of a link until the server has told what it had told after it: no further message waits for that. */
export class TrailingChecks {
  readonly #options: TrailingChecksOptions
  readonly #expected: ReturnType<ReplayPlan['trailingNotifications']>
  readonly #deferred: ReplayStep[] = []

  constructor(options: TrailingChecksOptions) {
    this.#options = options
    this.#expected = options.plan.trailingNotifications()
  }

  /** Takes a step that is reported later; returns false for any other step. */
  defer(step: ReplayStep): boolean {
    if (!this.#expected.has(step.index) || !wasSent(step)) return false
    if (this.#options.pausesOnFailure && hasFailed(step)) return false
    this.#deferred.push(step)
    return true
  }

  /** The deferred steps, with findings about what the server did not send. */
  finish(): Promise<readonly ReplayStep[]> {
    return Promise.all(this.#deferred.splice(0).map((step) => this.#settle(step)))
  }

  async #settle(step: ReplayStep): Promise<ReplayStep> {
    const { notificationsOn, isStopped } = this.#options
    const ending = this.#expected.get(step.index)
    const now = ending && notificationsOn(ending.link)
    if (ending === undefined || now === undefined || isStopped()) return step
    const found = await this.#found(ending, now)
    if (found.length === 0 || isStopped()) return step
    return { ...step, findings: [...step.findings, ...found] }
  }

  async #found(
    { link, counts: wanted }: TrailingNotifications,
    now: LiveNotifications,
  ): Promise<readonly StepFinding[]> {
    const { grace, isStrict, judgeUpdates } = this.#options
    const level = isStrict ? 'error' : 'warn'
    const missing = (await now.waitForCounts(wanted, grace)).map((method) =>
      missingNotification(method, level),
    )
    return [...missing, ...(await judgeUpdates({ link, wanted, now }))]
  }
}

function wasSent({ sentAt, isInjected }: ReplayStep): boolean {
  return sentAt !== undefined && isInjected !== true
}

function missingNotification(method: string, level: StepFinding['level']): StepFinding {
  return { layer: 'order', level, message: `${method} of the server no longer comes after this` }
}
