import { ReelayError } from '../errors.ts'
import type { LiveTarget } from '../serve/live-target.ts'

/** When a run may go live: `once` to make the tape, for what is new, never, or always. */
export type Mode = 'once' | 'new-episodes' | 'none' | 'all'

export const MODES: readonly Mode[] = ['once', 'new-episodes', 'none', 'all']

export interface LiveWishes {
  readonly mode?: Mode
  readonly onMiss?: 'error' | 'passthrough'
  /** The live server. */
  readonly target: LiveTarget | undefined
  readonly isTapeThere: boolean
  /** Whether this runs unattended, by the environment variable `CI`. */
  readonly isCi: boolean
}

/** What a run does with the live server. */
export type LivePlan = (
  | { readonly kind: 'replay' }
  | { readonly kind: 'record'; readonly target: LiveTarget }
  | { readonly kind: 'passthrough'; readonly target: LiveTarget; readonly learns: boolean }
) & { readonly warning?: string }

/** In CI nothing goes live unless the command line says so, and then it is said aloud. */
export function planLive(wishes: LiveWishes): LivePlan {
  const { onMiss, isTapeThere } = wishes
  const mode = modeOf(wishes)
  if (mode === 'none') return { kind: 'replay', ...notRecordedIn(wishes) }
  const target = targetOf(wishes, mode ?? 'passthrough')
  const warning = warningFor(wishes)
  if (mode === 'all' || (!isTapeThere && mode !== undefined)) return { kind: 'record', target, ...warning }
  if (mode === 'once') return { kind: 'replay' }
  const learns = mode === 'new-episodes'
  return learns || onMiss === 'passthrough'
    ? { kind: 'passthrough', target, learns, ...warning }
    : { kind: 'replay' }
}

/** Without a mode, a server to pass misses on to needs none, and a server alone is there to make the tape. */
function modeOf({ mode, onMiss, target, isCi }: LiveWishes): Mode | undefined {
  if (mode === 'none' && onMiss === 'passthrough')
    throw usage('--mode none and --on-miss passthrough contradict each other', 'leave one of them out')
  if (mode !== undefined) return mode
  if (onMiss === 'passthrough') return undefined
  return target !== undefined && !isCi ? 'once' : 'none'
}

/** Whoever gave a server and gets no tape should know why. */
function notRecordedIn({ mode, target, isTapeThere }: LiveWishes): { readonly warning?: string } {
  const isByCi = mode === undefined && target !== undefined && !isTapeThere
  return isByCi ? { warning: 'CI is set, so nothing is recorded; --mode once records all the same' } : {}
}

function targetOf({ target }: LiveWishes, wish: string): LiveTarget {
  if (target !== undefined) return target
  throw usage(
    `${wish} needs a live server`,
    'give its command behind --, as in: -- node server.js; or its --url',
  )
}

function warningFor({ mode, onMiss, isCi }: LiveWishes): { readonly warning?: string } {
  const wish = mode === undefined ? `--on-miss ${onMiss}` : `--mode ${mode}`
  return isCi ? { warning: `CI is set, and ${wish} lets this run go live all the same` } : {}
}

function usage(message: string, hint: string): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}
