import { errorMessage } from '../../errors.ts'
import { parseServerUrl } from '../../http/hosts.ts'
import type { ExchangeWatcher, RequestLine, BodyWatcher } from '../../http/proxy/proxied-exchange.ts'
import type { Recording } from '../recording.ts'

/** The type of the `fetch` option of the SDKs' HTTP transports. Node's `fetch` has it too. */
export type AnyFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export interface RecordFetchOptions {
  readonly recording: Recording
  /** The name of the server on the tape. */
  readonly server: string
  /** The endpoint of the server. Requests to other origins, such as those for tokens, are not recorded. */
  readonly url: string | URL
}

/**
 * Wraps a fetch function, and records its HTTP exchanges with a server: heads, messages, server-sent events and aborts.
 * URLs do not change, so OAuth still works.
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

/** Returns undefined for another server, and for an invalid request, which `fetch` itself rejects. */
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

/** SDKs send texts. Streams are not recorded, because reading one would take it from the request. */
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

/** How one response is recorded. */
interface ResponseRecording {
  readonly watcher: ExchangeWatcher
  /** Writes everything to the tape at once, because the caller may act on it in this round of the event loop. */
  readonly settle: () => void
  readonly signal: AbortSignal | null | undefined
}

/** Returns the response with a body that is recorded while it is read. Nothing is read ahead or held back. */
function recordedResponse(response: Response, onlooker: ResponseRecording): Response {
  const { body, status, statusText, headers, url, redirected, type } = response
  const watched = onlooker.watcher.answered(status, decodedHeaders(headers))
  if (body === null) {
    watched.end()
    return response
  }
  const passing = recordedBody(body, { ...onlooker, watched, isOwed: status !== ACCEPTED })
  const copy = new Response(passing, { status, statusText, headers })
  // The constructor cannot set these.
  for (const [name, value] of Object.entries({ url, redirected, type }))
    Object.defineProperty(copy, name, { value })
  return copy
}

const ACCEPTED = 202

/** The body that `fetch` returns is already decoded. */
function decodedHeaders(headers: Headers): readonly string[] {
  return [...headers].filter(([name]) => name !== 'content-encoding').flat()
}

interface RecordedBodyContext extends ResponseRecording {
  readonly watched: BodyWatcher
  /** Whether cancelling the body counts as an abort. SDKs cancel the empty body of a 202 without reading it. */
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
      watched.chunk(Uint8Array.from(value)) // a copy, because the reader may change its bytes
      settle()
      controller.enqueue(value)
    }
  }
  return new ReadableStream<Uint8Array>(
    {
      pull: (controller) =>
        pass(controller).catch((error: unknown) => {
          if (signal?.aborted === true) watcher.aborted('client')
          else watcher.aborted('server', errorMessage(error))
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
