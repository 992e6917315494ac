import { setTimeout as delay } from 'node:timers/promises'
import { isEventStreamResponse, readBodyText, type BridgeHttpResponse } from './http-requests.ts'
import type { UnansweredIds } from './pending-posts.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../../protocol/lines.ts'
import { SseReader, type SseEvent } from '../../protocol/sse.ts'

export interface EventStreamOptions {
  /** Asks for the stream, with these headers to take it up again. */
  readonly ask: (resume: readonly string[]) => Promise<BridgeHttpResponse>
  readonly onMessage: (text: string) => void
  readonly signal: AbortSignal
}

const RETRY_MS = 1000
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
function resumeHeaders({ lastEventId }: StreamPosition): readonly string[] {
  return lastEventId === undefined ? [] : ['Last-Event-ID', lastEventId]
}

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

/** Where a stream can be taken up again. */
interface StreamPosition {
  readonly lastEventId?: string | undefined
  readonly retryMs?: number | undefined
}

interface EventStreamHandlers {
  readonly onMessage: (text: string) => void
  /** An event of another name, such as the `endpoint` of a legacy server. */
  readonly onOther?: (event: string, data: string) => void
}

/** Hands out the events of an answer as they come; `mark` is kept up to date, so that it holds after a break too. */
export async function readEventStream(
  answer: BridgeHttpResponse,
  { onMessage, onOther }: EventStreamHandlers,
  mark: { -readonly [Key in keyof StreamPosition]: StreamPosition[Key] },
): Promise<void> {
  const onEvent = ({ id, event = 'message', retry, data }: SseEvent): void => {
    if (id !== undefined) mark.lastEventId = id
    if (retry !== undefined) mark.retryMs = retry
    const text = data === undefined || !data.isComplete ? '' : Buffer.concat(data.parts).toString()
    if (event !== 'message') onOther?.(event, text)
    else if (text !== '') onMessage(text) // an event without data only primes the stream
  }
  const reader = new SseReader({ maxBytes: DEFAULT_MAX_LINE_BYTES, onEvent, onComment: () => {} })
  for await (const chunk of answer.chunks()) reader.push(chunk)
}
