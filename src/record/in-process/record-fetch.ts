import { parseServerUrl } from '../../http/hosts.ts'
import type { ExchangeWatcher, RequestLine, BodyWatcher } from '../../http/proxy/proxied-exchange.ts'
import type { Recording } from '../recording.ts'

/** The `fetch` option of the SDKs' HTTP transports, and what Node's own `fetch` fits. */
export type AnyFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export interface RecordFetchOptions {
  readonly recording: Recording
  /** What to call the server on the tape. */
  readonly server: string
  /** The server's endpoint. What is fetched from other origins, such as tokens, is not recorded. */
  readonly url: string | URL
}

/**
 * A fetch function that does what the given one does, and puts the HTTP exchanges with a server on a tape: heads, messages,
 * server-sent events, aborts. URLs stay as they are, so OAuth works as without it.
 *
 * @example
 * const url = new URL('https://host/mcp')
 * new StreamableHTTPClientTransport(url, { fetch: recordFetch(fetch, { recording, server: 'mine', url }) })
 */
export function recordFetch(fetch: AnyFetch, { recording, server, url }: RecordFetchOptions): AnyFetch {
  const endpoint = parseServerUrl(String(url))
  const tape = recording.http(server, endpoint)
  return async (target, init) => {
    const line = requestLineOf(endpoint, target, init)
    if (line === undefined) return fetch(target, init)
    const watcher = tape.watch(line)
    recordRequestBody(watcher.request, init?.body)
    tape.settle()
    const response = await responseOf(() => fetch(target, init), watcher, init?.signal)
    return recordedResponse(response, { watcher, settle: tape.settle, signal: init?.signal })
  }
}

/** Undefined for what is not our server's, or no request at all: then fetch itself says so. */
function requestLineOf(
  endpoint: URL,
  target: string | URL,
  init: RequestInit | undefined,
): RequestLine | undefined {
  try {
    const { origin, pathname, search } = new URL(target)
    if (origin !== endpoint.origin) return undefined
    const headers = [...new Headers(init?.headers)].flat()
    return { method: (init?.method ?? 'GET').toUpperCase(), path: pathname + search, headers }
  } catch {
    return undefined
  }
}

/** SDKs send texts. Of anything else the tape says nothing, because reading it would take it from the request. */
function recordRequestBody({ chunk, end }: BodyWatcher, body: RequestInit['body']): void {
  if (typeof body === 'string') chunk(Buffer.from(body))
  else if (body instanceof Uint8Array) chunk(Uint8Array.from(body))
  end()
}

async function responseOf(
  ask: () => Promise<Response>,
  { aborted, unreachable }: ExchangeWatcher,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  try {
    return await ask()
  } catch (error) {
    if (signal?.aborted === true) aborted('client')
    else unreachable(fetchErrorReason(error))
    throw error
  }
}

function fetchErrorReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}

type Body = NonNullable<Response['body']>

/** Who looks on at the exchange. */
interface ResponseRecording {
  readonly watcher: ExchangeWatcher
  /** Has everything seen so far put on the tape: the caller may act on it before this round is over. */
  readonly settle: () => void
  readonly signal: AbortSignal | null | undefined
}

/** The response as it came, with a body that is put on the tape as its reader reads it: no sooner, and nothing is held back. */
function recordedResponse(response: Response, onlooker: ResponseRecording): Response {
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
