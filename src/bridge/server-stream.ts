import { setTimeout as delay } from 'node:timers/promises'
import { isEventStream, textOf, type Answer } from './http-ask.ts'
import { readEvents, type Bookmark } from './read-events.ts'

export interface StreamOptions {
  /** Asks for the stream, with these headers to take it up again. */
  readonly ask: (resume: readonly string[]) => Promise<Answer>
  readonly onMessage: (text: string) => void
  readonly signal: AbortSignal
}

export const RETRY_MS = 1000
const MOST_FAILURES = 5

/** Hears what a legacy server says of its own accord: in a stream that is opened for that, again and again, if the server has one. */
export async function hearServer(options: StreamOptions): Promise<void> {
  const { signal } = options
  const mark: Bookmark = {}
  for (let failures = 0; !signal.aborted && failures < MOST_FAILURES;) {
    const heard = await hearOnce(options, mark).catch(() => 'failed' as const)
    if (heard === 'none') return
    failures = heard === 'failed' ? failures + 1 : 0
    await delay(mark.retryMs ?? RETRY_MS * 2 ** failures, undefined, { signal }).catch(() => {}) // told to stop
  }
}

async function hearOnce({ ask, onMessage }: StreamOptions, mark: Bookmark): Promise<'heard' | 'none'> {
  const answer = await ask(resumeHeaders(mark))
  if (answer.status === 200 && isEventStream(answer)) {
    await readEvents(answer, { onMessage }, mark).catch(() => {}) // a break is an end
    return 'heard'
  }
  await textOf(answer)
  return 'none'
}

/** What asks for the rest of a stream. */
export function resumeHeaders({ lastEventId }: Bookmark): readonly string[] {
  return lastEventId === undefined ? [] : ['Last-Event-ID', lastEventId]
}
