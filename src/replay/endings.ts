import { inFull, isAsRecorded, type Outcome } from './as-recorded.ts'
import { hasFailed } from './failed.ts'
import type { Heard } from './heard.ts'
import type { Plan } from './plan.ts'
import type { Finding } from './verdict/finding.ts'

export interface EndingsOptions {
  readonly plan: Plan
  readonly heardOn: (link: string) => Heard | undefined
  /** Milliseconds that the server may be late. */
  readonly grace: number
  /** Whether somebody looks at a step that failed before the run goes on. */
  readonly isLookedAt: boolean
  readonly isStrict: boolean
  readonly isStopped: () => boolean
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
    if (!this.#endings.has(outcome.index) || outcome.sentAt === undefined) return false
    if (this.#options.isLookedAt && !isAsRecorded(outcome) && hasFailed(outcome)) return false
    this.#held.push(outcome)
    return true
  }

  /** What was held back, with what the server did not tell. */
  settled(): Promise<readonly Outcome[]> {
    return Promise.all(this.#held.splice(0).map((outcome) => this.#settle(outcome)))
  }

  async #settle(outcome: Outcome): Promise<Outcome> {
    const { plan, heardOn, grace, isStopped, isStrict } = this.#options
    const ending = this.#endings.get(outcome.index)
    if (ending === undefined || isStopped()) return outcome
    const missing = (await heardOn(ending.link)?.until(ending.heard, grace)) ?? []
    if (missing.length === 0 || isStopped()) return outcome
    const step = isAsRecorded(outcome) ? inFull(outcome, plan.at(outcome.index)) : outcome
    const level = isStrict ? 'error' : 'warn'
    return { ...step, findings: [...step.findings, ...missing.map((method) => staysOut(method, level))] }
  }
}

function staysOut(method: string, level: Finding['level']): Finding {
  return { layer: 'order', level, message: `${method} of the server no longer comes after this` }
}
