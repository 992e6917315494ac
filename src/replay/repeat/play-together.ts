import { setTimeout as sleep } from 'node:timers/promises'
import { ReplayController } from '../control/controller.ts'
import type { ReplayOptions, ReplayTarget } from '../options.ts'
import type { ReplayedTape } from '../plan/server-part.ts'
import { turnStoreOf } from '../../tape/turns.ts'
import { replay } from '../replay.ts'
import type { ReplayReport } from '../report.ts'

/** The reports of two runs at the same time. */
export interface RunPair {
  readonly first: ReplayReport
  /** `undefined` if the second run could not be made, or was stopped. */
  readonly second: ReplayReport | undefined
}

interface PairOptions {
  readonly tape: ReplayedTape
  readonly options: ReplayOptions
  /** Where the second run goes; by default to the same target. */
  readonly second: ReplayTarget | undefined
  readonly playFirst: (target: ReplayTarget) => Promise<ReplayReport>
}

/**
 * Returns true if two runs at the same time cannot see each other: nothing is written, and no session of a shared server subscribes to
 * what another one causes.
 */
export function canPlayTogether(
  tape: ReplayedTape,
  { allowWrites, allow = [], target }: ReplayOptions,
): boolean {
  if (allowWrites === true || allow.length > 0) return false
  return (
    target.isShared !== true ||
    !turnStoreOf(tape.turns)
      .kinds()
      .some(({ method }) => SUBSCRIBING.has(method))
  )
}

const SUBSCRIBING: ReadonlySet<string> = new Set(['resources/subscribe', 'subscriptions/listen'])

/**
 * Plays a tape twice at the same time, so that the second run takes hardly any additional time. The server of the second run starts a
 * moment later: servers that count their starts in a file must not read the same number.
 */
export async function playTogether({ tape, options, second, playFirst }: PairOptions): Promise<RunPair> {
  const hasAnswered = new AbortController()
  const quit = new AbortController()
  const target = watchFirstAnswer(options.target, hasAnswered)
  const first = playFirst(target)
  const other = (async () => {
    const isOver = AbortSignal.any([hasAnswered.signal, quit.signal])
    await sleep(HEAD_START, undefined, { signal: isOver }).catch(() => {})
    if (quit.signal.aborted || options.signal?.aborted === true) return undefined
    const controller = new ReplayController()
    const stops = [quit.signal, options.signal, options.controller?.stopped].filter(
      (one) => one !== undefined,
    )
    const signal = AbortSignal.any(stops)
    const run = replay(tape, { ...options, target: second ?? options.target, controller, signal })
    const report = await run.report
    return signal.aborted ? undefined : report
  })().catch(() => undefined)
  try {
    return { first: await first, second: await other }
  } catch (error) {
    quit.abort()
    await other
    throw error
  }
}

// Milliseconds. Most servers read such a file within a few milliseconds of the same moment of their start.
const HEAD_START = 80

function watchFirstAnswer(target: ReplayTarget, hasAnswered: AbortController): ReplayTarget {
  const { open } = target
  return {
    ...target,
    open: (handlers) =>
      open({
        ...handlers,
        onText: (text, of) => {
          if (!hasAnswered.signal.aborted) hasAnswered.abort()
          handlers.onText(text, of)
        },
      }),
  }
}
