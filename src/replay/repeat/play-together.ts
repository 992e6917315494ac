import { setTimeout as sleep } from 'node:timers/promises'
import { ReplayController } from '../control/controller.ts'
import type { ReplayOptions, ReplayTarget } from '../options.ts'
import { TapeRequests } from '../noise/noise-profile.ts'
import { selectServerPart, type ReplayedTape } from '../plan/server-part.ts'
import { holdUnsafeCall, toolsOnTape } from '../plan/tool-safety.ts'
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
export async function canPlayTogether(tape: ReplayedTape, options: ReplayOptions): Promise<boolean> {
  if ((await firstWrite(tape, options)) !== undefined) return false
  return (
    options.target.isShared !== true ||
    !turnStoreOf(tape.turns)
      .kinds()
      .some(({ method }) => SUBSCRIBING.has(method))
  )
}

const SUBSCRIBING: ReadonlySet<string> = new Set(['resources/subscribe', 'subscriptions/listen'])

/** The number of the first exchange that may write and is allowed to. Returns `undefined` if all calls only read. */
export async function firstWrite(tape: ReplayedTape, options: ReplayOptions): Promise<number | undefined> {
  const { allow = [], allowWrites = false } = options
  if (allow.length === 0 && !allowWrites) return undefined
  const part = await selectServerPart(tape, options.server)
  const tools = toolsOnTape(part)
  for (const { exchange, method, tool } of new TapeRequests(tape).calls()) {
    const message = { kind: 'request', id: 0, method, params: undefined } as const
    const mayWrite = holdUnsafeCall({ message, tool }, {}, tools) !== undefined
    if (mayWrite && (allowWrites || allow.includes(tool ?? ''))) return exchange
  }
  return undefined
}

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
const HEAD_START = 25

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
