import { setTimeout as delay } from 'node:timers/promises'
import { isEventStreamResponse, readBodyText, type BridgeHttpResponse } from '../link/bridge/http-requests.ts'
import type { UnansweredIds } from './owed.ts'
import { readEventStream, type StreamPosition } from './read-events.ts'
import { resumeHeaders, RETRY_MS, type EventStreamOptions } from '../link/bridge/event-streams.ts'

/** Hears the stream that answers a POST to its end, and takes it up again where it broke off as long as something is owed. */
export async function readResponseStream(
  first: BridgeHttpResponse,
  owed: UnansweredIds,
  options: EventStreamOptions,
): Promise<void> {
  const { onMessage, signal } = options
  const mark: StreamPosition = {}
  let answer: BridgeHttpResponse | undefined = first
  while (answer !== undefined) {
    await readEventStream(answer, { onMessage }, mark).catch(() => {}) // a break is an end
    const isOver = owed.isSettled || mark.lastEventId === undefined || signal.aborted
    answer = isOver ? undefined : await resumeStream(mark, options)
  }
}

async function resumeStream(
  mark: StreamPosition,
  { ask, signal }: EventStreamOptions,
): Promise<BridgeHttpResponse | undefined> {
  await delay(mark.retryMs ?? RETRY_MS, undefined, { signal })
  const answer = await ask(resumeHeaders(mark))
  if (answer.status === 200 && isEventStreamResponse(answer)) return answer
  await readBodyText(answer)
  return undefined
}
