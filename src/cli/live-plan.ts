import { ReelayError } from '../errors.ts'

/** When a run may go live: `once` to make the tape, for what is new, never, or always. */
export type Mode = 'once' | 'new-episodes' | 'none' | 'all'

export const MODES: readonly Mode[] = ['once', 'new-episodes', 'none', 'all']

export interface LiveWishes {
  readonly mode?: Mode
  readonly onMiss?: 'error' | 'passthrough'
  /** The command of the live server. */
  readonly command: readonly string[]
  readonly isTapeThere: boolean
  /** Whether this runs unattended, by the environment variable `CI`. */
  readonly isCi: boolean
}

/** What a run does with the live server. */
export type LivePlan = (
  | { readonly kind: 'replay' }
  | { readonly kind: 'record'; readonly command: Words }
  | { readonly kind: 'passthrough'; readonly command: Words; readonly learns: boolean }
) & { readonly warning?: string }

type Words = readonly [string, ...string[]]

/** In CI nothing goes live unless the command line says so, and then it is said aloud. */
export function planLive(wishes: LiveWishes): LivePlan {
  const { onMiss, isTapeThere } = wishes
  const mode = modeOf(wishes)
  if (mode === 'none') return { kind: 'replay', ...notRecordedIn(wishes) }
  const command = commandOf(wishes, mode ?? 'passthrough')
  const warning = warningFor(wishes)
  if (mode === 'all' || (!isTapeThere && mode !== undefined)) return { kind: 'record', command, ...warning }
  if (mode === 'once') return { kind: 'replay' }
  const learns = mode === 'new-episodes'
  return learns || onMiss === 'passthrough'
    ? { kind: 'passthrough', command, learns, ...warning }
    : { kind: 'replay' }
}

/** Without a mode, a server to pass misses on to needs none, and a server alone is there to make the tape. */
function modeOf({ mode, onMiss, command, isCi }: LiveWishes): Mode | undefined {
  if (mode === 'none' && onMiss === 'passthrough')
    throw usage('--mode none and --on-miss passthrough contradict each other', 'leave one of them out')
  if (mode !== undefined) return mode
  if (onMiss === 'passthrough') return undefined
  return command.length > 0 && !isCi ? 'once' : 'none'
}

/** Whoever gave a server and gets no tape should know why. */
function notRecordedIn({ mode, command, isTapeThere }: LiveWishes): { readonly warning?: string } {
  const isByCi = mode === undefined && command.length > 0 && !isTapeThere
  return isByCi ? { warning: 'CI is set, so nothing is recorded; --mode once records all the same' } : {}
}

function commandOf({ command: [file, ...args] }: LiveWishes, wish: string): Words {
  if (file !== undefined) return [file, ...args]
  throw usage(`${wish} needs a live server`, 'give its command behind --, as in: -- node server.js')
}

function warningFor({ mode, onMiss, isCi }: LiveWishes): { readonly warning?: string } {
  const wish = mode === undefined ? `--on-miss ${onMiss}` : `--mode ${mode}`
  return isCi ? { warning: `CI is set, and ${wish} lets this run go live all the same` } : {}
}

function usage(message: string, hint: string): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}
