import { setTimeout as delay } from 'node:timers/promises'
import { isEventStream, textOf, type Answer } from './http-ask.ts'
import type { Owed } from './owed.ts'
import { readEvents, type Bookmark } from './read-events.ts'
import { resumeHeaders, RETRY_MS, type StreamOptions } from './server-stream.ts'

/** Hears the stream that answers a POST to its end, and takes it up again where it broke off as long as something is owed. */
export async function hearAnswer(first: Answer, owed: Owed, options: StreamOptions): Promise<void> {
  const { onMessage, signal } = options
  const mark: Bookmark = {}
  let answer: Answer | undefined = first
  while (answer !== undefined) {
    await readEvents(answer, { onMessage }, mark).catch(() => {}) // a break is an end
    const isOver = owed.isSettled || mark.lastEventId === undefined || signal.aborted
    answer = isOver ? undefined : await resume(mark, options)
  }
}

async function resume(mark: Bookmark, { ask, signal }: StreamOptions): Promise<Answer | undefined> {
  await delay(mark.retryMs ?? RETRY_MS, undefined, { signal })
  const answer = await ask(resumeHeaders(mark))
  if (answer.status === 200 && isEventStream(answer)) return answer
  await textOf(answer)
  return undefined
}
