import { ReelayError } from '../errors.ts'
import { idKey } from '../protocol/id.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../protocol/lines.ts'
import { classifyMessage } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'
import { SseReader, type SseEvent } from '../protocol/sse.ts'
import type { ClientLink, LinkHandlers, OpenLink } from './client-link.ts'
import { HttpClient } from '../http/client/http-client.ts'

export interface HttpSseLinkOptions {
  /** Where the stream is opened. */
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
}

/** A link over the legacy transport: one stream for all that the server says, and an endpoint of its choice to post to. */
export function httpSseLink(options: HttpSseLinkOptions): OpenLink {
  return async (handlers) => {
    const client = new HttpClient()
    try {
      const endpoint = await openStream(client, options, handlers)
      return new HttpSseLink({ ...options, endpoint, client, handlers })
    } catch (error) {
      client.close()
      throw error
    }
  }
}

interface HttpSseConnection extends HttpSseLinkOptions {
  readonly endpoint: URL
  readonly client: HttpClient
  readonly handlers: LinkHandlers
}

class HttpSseLink implements ClientLink {
  readonly #link: HttpSseConnection

  constructor(link: HttpSseConnection) {
    this.#link = link
  }

  send(text: string): void {
    const { client, endpoint, handlers } = this.#link
    const message = classifyMessage(parseJson(text))
    const lose = (why: string): void => {
      if (message.kind === 'request') handlers.onLost(idKey(message.id), why)
    }
    const headers = { 'content-type': 'application/json', ...this.#link.headers }
    client.send(
      { method: 'POST', url: endpoint, headers, body: text },
      {
        onHead: ({ status }) => status >= 300 && lose(`the server answered HTTP ${status}`),
        onBody: () => {},
        onEnd: () => {},
        onError: lose,
      },
    )
  }

  async close(): Promise<void> {
    this.#link.client.close()
  }
}

/** Resolves with the endpoint that the server names first. */
function openStream(
  client: HttpClient,
  { url, headers = {} }: HttpSseLinkOptions,
  handlers: LinkHandlers,
): Promise<URL> {
  return new Promise((resolve, reject) => {
    const onEvent = ({ event, data }: SseEvent): void => {
      const text = data === undefined ? '' : Buffer.concat(data.parts).toString('utf8')
      if (event === 'endpoint') parseEndpoint(text, url).then(resolve, reject)
      else if (text !== '') handlers.onText(text)
    }
    const reader = new SseReader({ maxBytes: DEFAULT_MAX_LINE_BYTES, onEvent, onComment: () => {} })
    const over = (why: string): void => {
      reject(noStreamError(url, why))
      handlers.onEnd(why)
    }
    handlers.signal?.addEventListener('abort', () => over('it was given up'), { once: true })
    client.send(
      { method: 'GET', url, headers: { accept: 'text/event-stream', ...headers } },
      {
        onHead: ({ status }) => status >= 300 && over(`the server answered HTTP ${status}`),
        onBody: (chunk) => reader.push(chunk),
        onEnd: () => over('the stream ended'),
        onError: over,
      },
    )
  })
}

// Our headers may hold a token: they go to nobody but the server that the user named.
async function parseEndpoint(text: string, url: URL): Promise<URL> {
  const endpoint = new URL(text, url)
  if (endpoint.origin === url.origin) return endpoint
  throw noStreamError(url, `it wants messages sent to another origin, ${endpoint.origin}`)
}

function noStreamError(url: URL, why: string): ReelayError {
  const hint = 'name the address of the stream, which often ends in /sse; for Streamable HTTP leave --sse out'
  return new ReelayError('TARGET_REFUSED', `no stream of events at ${url.origin}${url.pathname}: ${why}`, {
    hint,
  })
}
