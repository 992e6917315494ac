import type { LiveServerFlags } from '../options/live-options.ts'
import { usageError } from '../options/option.ts'
import { headerRecord } from '../options/option-types.ts'
import type { UpstreamTarget } from '../../serve/upstream/upstream.ts'

/** When a run records the live server: `once` if there is no tape, for new requests, never, or always. */
export type LiveMode = 'once' | 'new-episodes' | 'none' | 'all'

export const LIVE_MODES: readonly LiveMode[] = ['once', 'new-episodes', 'none', 'all']

export interface LivePlanInput {
  readonly mode?: LiveMode | undefined
  readonly onMiss?: 'error' | 'passthrough' | undefined
  /** The live server. */
  readonly target: UpstreamTarget | undefined
  readonly isTapeThere: boolean
  /** True in CI, by the environment variable `CI`. */
  readonly isCi: boolean
}

/** How a run uses the live server. */
export type LivePlan = (
  | { readonly kind: 'replay' }
  | { readonly kind: 'record'; readonly target: UpstreamTarget }
  | { readonly kind: 'passthrough'; readonly target: UpstreamTarget; readonly learns: boolean }
) & { readonly warning?: string }

/** In CI, a run uses the live server only if the command line says so, and then with a warning. */
export function planLiveServer(input: LivePlanInput): LivePlan {
  const { onMiss, isTapeThere } = input
  const mode = effectiveMode(input)
  if (mode === 'none') return { kind: 'replay', ...notRecordedWarning(input) }
  const target = requireLiveTarget(input, mode ?? 'passthrough')
  const warning = ciWarning(input)
  if (mode === 'all' || (!isTapeThere && mode !== undefined)) return { kind: 'record', target, ...warning }
  if (mode === 'once') return { kind: 'replay' }
  const learns = mode === 'new-episodes'
  return learns || onMiss === 'passthrough'
    ? { kind: 'passthrough', target, learns, ...warning }
    : { kind: 'replay' }
}

/** The default depends on other options: passthrough needs no mode, and otherwise a live server is recorded once. */
function effectiveMode({ mode, onMiss, target, isCi }: LivePlanInput): LiveMode | undefined {
  if (mode === 'none' && onMiss === 'passthrough')
    throw usageError('--mode none and --on-miss passthrough contradict each other', 'leave one of them out')
  if (mode !== undefined) return mode
  if (onMiss === 'passthrough') return undefined
  return target !== undefined && !isCi ? 'once' : 'none'
}

/** Explains why a run with a live server makes no tape. */
function notRecordedWarning({ mode, target, isTapeThere }: LivePlanInput): { readonly warning?: string } {
  const isByCi = mode === undefined && target !== undefined && !isTapeThere
  return isByCi ? { warning: 'CI is set, so nothing is recorded; --mode once records anyway' } : {}
}

function requireLiveTarget({ target }: LivePlanInput, mode: string): UpstreamTarget {
  if (target !== undefined) return target
  throw usageError(
    `${mode} needs a live server`,
    'give its command after --, as in: -- node server.js; or its --url',
  )
}

function ciWarning({ mode, onMiss, isCi }: LivePlanInput): { readonly warning?: string } {
  const option = mode === undefined ? `--on-miss ${onMiss}` : `--mode ${mode}`
  return isCi ? { warning: `CI is set, and ${option} lets this run use the live server` } : {}
}

/** The live server that the user named, if any. */
export function readLiveTarget(
  [file, ...args]: readonly string[],
  { url, header = [] }: LiveServerFlags,
): UpstreamTarget | undefined {
  if (file !== undefined && url !== undefined)
    throw usageError('both a command and --url are given', 'there is one live server: leave out one of them')
  if (url !== undefined) return { kind: 'url', url, headers: headerRecord(header) }
  return file === undefined ? undefined : { kind: 'command', command: [file, ...args] }
}
