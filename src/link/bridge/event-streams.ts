import { setTimeout as delay } from 'node:timers/promises'
import { isEventStreamResponse, readBodyText, type BridgeHttpResponse } from './http-requests.ts'
import { readEventStream, type StreamPosition } from '../../bridge/read-events.ts'

export interface EventStreamOptions {
  /** Asks for the stream, with these headers to take it up again. */
  readonly ask: (resume: readonly string[]) => Promise<BridgeHttpResponse>
  readonly onMessage: (text: string) => void
  readonly signal: AbortSignal
}

export const RETRY_MS = 1000
const MAX_FAILURES = 5

/** Hears what a legacy server says of its own accord: in a stream that is opened for that, again and again, if the server has one. */
export async function listenToServer(options: EventStreamOptions): Promise<void> {
  const { signal } = options
  const mark: StreamPosition = {}
  for (let failures = 0; !signal.aborted && failures < MAX_FAILURES;) {
    const heard = await listenOnce(options, mark).catch(() => 'failed' as const)
    if (heard === 'none') return
    failures = heard === 'failed' ? failures + 1 : 0
    await delay(mark.retryMs ?? RETRY_MS * 2 ** failures, undefined, { signal }).catch(() => {}) // told to stop
  }
}

async function listenOnce(
  { ask, onMessage }: EventStreamOptions,
  mark: StreamPosition,
): Promise<'heard' | 'none'> {
  const answer = await ask(resumeHeaders(mark))
  if (answer.status === 200 && isEventStreamResponse(answer)) {
    await readEventStream(answer, { onMessage }, mark).catch(() => {}) // a break is an end
    return 'heard'
  }
  await readBodyText(answer)
  return 'none'
}

/** What asks for the rest of a stream. */
export function resumeHeaders({ lastEventId }: StreamPosition): readonly string[] {
  return lastEventId === undefined ? [] : ['Last-Event-ID', lastEventId]
}
