import type { FoundBindings } from '../bindings/binding.ts'
import type { OpenLink } from '../link/client-link.ts'
import type { ReplayController } from './controller.ts'
import type { JudgeOptions } from './judge/comparison-rules.ts'
import type { Ordering } from './plan/schedule.ts'
import type { MessageSelection } from './plan/planner.ts'
import type { Timing } from './plan/timing.ts'
import type { WritePermission } from './plan/tool-safety.ts'
import type { ErrorInjection } from './send/error-injection.ts'
import type { LiveSecrets } from './session/live-secrets.ts'
import type { ServerRequestPolicy } from './session/recorded-answers.ts'
import type { TransformRule } from './transform/rule.ts'

/** How a tape is to be replayed against a live server. */
export interface ReplayOptions extends Partial<MessageSelection>, WritePermission, JudgeOptions {
  /** The way to the live server. */
  readonly target: ReplayTarget
  /** Whose client to be, when the tape holds several servers. */
  readonly server?: string
  readonly ordering?: Ordering
  readonly timing?: Timing
  /** How many requests may be open at once. */
  readonly maxConcurrent?: number
  /** How many results may wait for whoever iterates over the run before no further message goes out. */
  readonly bufferSize?: number
  /** Milliseconds that each answer may take. */
  readonly timeout?: number
  readonly rules?: readonly TransformRule[]
  /** `false` sends the recorded ids; by default each request gets a fresh one. */
  readonly transformIds?: boolean
  /** Bindings to use; by default those of `tapeBindings`. `false` sends what was recorded. */
  readonly correlate?: FoundBindings | false
  /** The values behind the stand-ins of a redacted tape; by default they are looked for in the environment. */
  readonly secrets?: LiveSecrets
  /** Moves points in time in what is sent, by as long ago as it was recorded. */
  readonly updateTimestamps?: boolean
  readonly injection?: ErrorInjection
  readonly onAsk?: ServerRequestPolicy
  readonly onError?: 'continue' | 'pause' | 'stop' | 'retry'
  readonly maxRetries?: number
  readonly retryDelay?: number
  /** After so many steps (50 000 unless said), the report keeps the texts only of those with findings; `for await` sees them all. */
  readonly keepTexts?: number
  /** Holds, resumes and stops the run. */
  readonly controller?: ReplayController
  /** Stops the run. */
  readonly signal?: AbortSignal
}

/** Where the messages go, and what to call it in the report. */
export interface ReplayTarget {
  readonly name: string
  readonly open: OpenLink
}

/** Milliseconds that an answer may take, unless the user says otherwise. */
export const DEFAULT_TIMEOUT = 10_000
