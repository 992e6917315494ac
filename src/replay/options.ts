import type { FoundBindings } from '../bindings/binding.ts'
import type { OpenLink } from '../link/client-link.ts'
import type { ReplayController } from './control/controller.ts'
import type { JudgeOptions } from './judge/comparison-rules.ts'
import type { Ordering } from './plan/schedule.ts'
import type { MessageSelection } from './plan/plan.ts'
import type { Timing } from './plan/timing.ts'
import type { WritePermission } from './plan/tool-safety.ts'
import type { ReplayFaultOptions } from './send/request-faults.ts'
import type { LiveSecrets } from './session/live-secrets.ts'
import type { ServerRequestPolicy } from './session/recorded-answers.ts'
import type { TransformRule } from './transform/rule.ts'

/** Options of `replay`. */
export interface ReplayOptions extends MessageSelection, WritePermission, JudgeOptions, ReplayFaultOptions {
  /** The live server. */
  readonly target: ReplayTarget
  /** The server whose client is played; required if the tape has several servers. */
  readonly server?: string
  readonly ordering?: Ordering
  readonly timing?: Timing
  /** How many requests may be open at once. */
  readonly maxConcurrent?: number
  /** How many steps may wait for a reader of the run before sending pauses. */
  readonly bufferSize?: number
  /**
   * Milliseconds that each answer may take, once the server has answered its first request. By default 10 seconds, or three
   * times as long as on the tape if that is longer.
   */
  readonly timeout?: number
  /** Milliseconds that the server may take to start, until it has answered its first request. */
  readonly startTimeout?: number
  /** Reelay's own handshake names the recorded client instead of Reelay. */
  readonly asRecordedClient?: boolean
  readonly rules?: readonly TransformRule[]
  /** `false` sends the recorded ids; by default each request gets a new id. */
  readonly transformIds?: boolean
  /** Bindings to use; by default those of `tapeBindings`. `false` sends the recorded values. */
  readonly correlate?: FoundBindings | false
  /** The values behind the placeholders of a redacted tape; by default they come from the environment. */
  readonly secrets?: LiveSecrets
  /** Shifts timestamps in requests by the age of the recording. */
  readonly updateTimestamps?: boolean
  readonly onAsk?: ServerRequestPolicy
  readonly onError?: 'continue' | 'pause' | 'stop' | 'retry'
  readonly maxRetries?: number
  readonly retryDelay?: number
  /** After this many steps (default 50 000), the report has texts only for steps with findings; `for await` sees all texts. */
  readonly keepTexts?: number
  /** Called before the first message is sent if the run sends calls that may have side effects. */
  readonly onWrites?: () => void
  /** Pauses, resumes and stops the run. */
  readonly controller?: ReplayController
  /** Stops the run. */
  readonly signal?: AbortSignal
}

/** A live server and its name in the report. */
export interface ReplayTarget {
  readonly name: string
  readonly open: OpenLink
  /** True if all connections lead to the same server process, so that one session may cause notifications in another. */
  readonly isShared?: true
}

/** Milliseconds that a server may take to start by default. A cold `npx` downloads it first. */
export const DEFAULT_START_TIMEOUT = 60_000
