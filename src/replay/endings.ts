import { inFull, isAsRecorded, type Outcome } from './as-recorded.ts'
import { hasFailed } from './failed.ts'
import type { Heard } from './heard.ts'
import type { Ending } from './last-news.ts'
import type { Plan } from './plan.ts'
import type { StepResult } from './step-result.ts'
import type { Finding } from './verdict/finding.ts'
import type { UpdatesJudge } from './verdict/updates.ts'

export interface EndingsOptions {
  readonly plan: Plan
  readonly heardOn: (link: string) => Heard | undefined
  /** Milliseconds that the server may be late. */
  readonly grace: number
  /** Whether somebody looks at a step that failed before the run goes on. */
  readonly isLookedAt: boolean
  readonly isStrict: boolean
  readonly isStopped: () => boolean
  readonly judgeUpdates: UpdatesJudge['judge']
}

/** Holds back what became of the last message of a link until the server has told what it had told after it: no further message waits for that. */
export class Endings {
  readonly #options: EndingsOptions
  readonly #endings: ReturnType<Plan['endings']>
  readonly #held: Outcome[] = []

  constructor(options: EndingsOptions) {
    this.#options = options
    this.#endings = options.plan.endings()
  }

  /** Whether it is told of later. */
  holds(outcome: Outcome): boolean {
    if (!this.#endings.has(outcome.index)) return false
    if (!isAsRecorded(outcome) && (!isSent(outcome) || (this.#options.isLookedAt && hasFailed(outcome))))
      return false
    this.#held.push(outcome)
    return true
  }

  /** What was held back, with what the server did not tell. */
  settled(): Promise<readonly Outcome[]> {
    return Promise.all(this.#held.splice(0).map((outcome) => this.#settle(outcome)))
  }

  async #settle(outcome: Outcome): Promise<Outcome> {
    const { plan, heardOn, isStopped } = this.#options
    const ending = this.#endings.get(outcome.index)
    const now = ending && heardOn(ending.link)
    if (ending === undefined || now === undefined || isStopped()) return outcome
    const found = await this.#found(ending, now)
    if (found.length === 0 || isStopped()) return outcome
    const step = isAsRecorded(outcome) ? inFull(outcome, plan.at(outcome.index)) : outcome
    return { ...step, findings: [...step.findings, ...found] }
  }

  async #found({ link, heard: wanted }: Ending, now: Heard): Promise<readonly Finding[]> {
    const { grace, isStrict, judgeUpdates } = this.#options
    const level = isStrict ? 'error' : 'warn'
    const missing = (await now.until(wanted, grace)).map((method) => staysOut(method, level))
    return [...missing, ...(await judgeUpdates({ link, wanted, now }))]
  }
}

function isSent({ sentAt, isInjected }: StepResult): boolean {
  return sentAt !== undefined && isInjected !== true
}

function staysOut(method: string, level: Finding['level']): Finding {
  return { layer: 'order', level, message: `${method} of the server no longer comes after this` }
}
