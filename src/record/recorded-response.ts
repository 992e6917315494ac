import type { ExchangeWatcher } from '../http/proxy/proxied-exchange.ts'
import type { BodyWatcher } from '../transport/relay-body.ts'

type Body = NonNullable<Response['body']>

/** Who looks on at the exchange. */
export interface ResponseRecording {
  readonly watcher: ExchangeWatcher
  /** Has everything seen so far put on the tape: the caller may act on it before this round is over. */
  readonly settle: () => void
  readonly signal: AbortSignal | null | undefined
}

/** The response as it came, with a body that is put on the tape as its reader reads it: no sooner, and nothing is held back. */
export function recordedResponse(response: Response, onlooker: ResponseRecording): Response {
  const { body, status, statusText, headers, url, redirected, type } = response
  const watched = onlooker.watcher.answered(status, decodedHeaders(headers))
  if (body === null) {
    watched.end()
    return response
  }
  const passing = recordedBody(body, { ...onlooker, watched, isOwed: status !== ACCEPTED })
  const copy = new Response(passing, { status, statusText, headers })
  // What only a real exchange can set.
  for (const [name, value] of Object.entries({ url, redirected, type }))
    Object.defineProperty(copy, name, { value })
  return copy
}

const ACCEPTED = 202

/** What fetch hands out is decoded already. */
function decodedHeaders(headers: Headers): readonly string[] {
  return [...headers].filter(([name]) => name !== 'content-encoding').flat()
}

interface RecordedBodyContext extends ResponseRecording {
  readonly watched: BodyWatcher
  /** Whether a reader that leaves gives something up; SDKs drop the empty body of a 202 unread. */
  readonly isOwed: boolean
}

function recordedBody(body: Body, { watcher, watched, settle, signal, isOwed }: RecordedBodyContext): Body {
  const reader = body.getReader()
  const pass = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const { done, value } = await reader.read()
    if (done) {
      watched.end()
      controller.close()
    } else {
      watched.chunk(Uint8Array.from(value)) // a copy: the reader may do with its own what it likes
      settle()
      controller.enqueue(value)
    }
  }
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        pass(controller).catch((error: unknown) => {
          if (signal?.aborted === true) watcher.aborted('client')
          else watcher.aborted('server', error instanceof Error ? error.message : String(error))
          throw error
        }),
      cancel: (reason) => {
        if (isOwed) watcher.aborted('client')
        else watched.end()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  ) as Body
}
