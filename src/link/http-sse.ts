import { ReelayError } from '../errors.ts'
import { parseJson } from '../json/parse.ts'
import { classifyMessage, type Message } from '../protocol/message.ts'
import {
  type ClientLink,
  type HttpRefusal,
  type LinkHandlers,
  type OpenLink,
  requestKeys,
} from './client-link.ts'
import { HttpBodyReader } from './event-streams.ts'
import { type HttpLinkOptions, HttpRequests, POST_HEADERS, STREAM_HEADERS } from './http-requests.ts'

/** A link over the HTTP+SSE transport of 2024-11-05: one stream for everything that the server sends, and an endpoint to post to. */
export function httpSseLink(options: HttpLinkOptions): OpenLink {
  return async (handlers) => {
    const link = new HttpSseLink(options, handlers)
    await link.open()
    return link
  }
}

class HttpSseLink implements ClientLink {
  readonly #url: URL
  readonly #handlers: LinkHandlers
  readonly #requests: HttpRequests
  #endpoint: URL | undefined
  #isEnded = false

  constructor(options: HttpLinkOptions, handlers: LinkHandlers) {
    this.#url = options.url
    this.#handlers = handlers
    this.#requests = new HttpRequests(options)
  }

  /** Opens the stream, and waits until the server names its endpoint. */
  async open(): Promise<void> {
    try {
      this.#endpoint = await this.#openStream()
    } catch (error) {
      this.#requests.close()
      throw error instanceof ReelayError ? error : noStreamError(this.#url, String(error))
    }
  }

  send(text: string, message: Message = classifyMessage(parseJson(text)), onSettled?: () => void): void {
    const keys = requestKeys(message)
    const fail = (why: string, refusal?: HttpRefusal): void => {
      for (const key of keys) this.#handlers.onLost(key, why, refusal)
      if (keys.length === 0) this.#handlers.onRejected?.(why, refusal)
    }
    if (this.#endpoint === undefined || this.#isEnded) {
      fail(STREAM_ENDED)
      return onSettled?.()
    }
    let status = 0
    this.#requests.send(
      { method: 'POST', url: this.#endpoint, headers: POST_HEADERS, body: text },
      {
        onHead: (head) => void (status = head.status),
        onBody: () => {},
        onEnd: () => {
          const refusal = { status, body: '', location: undefined, isSessionLost: false }
          if (status >= 300) fail(`the server answered HTTP ${status}`, refusal)
          onSettled?.()
        },
        onFail: (error) => {
          fail(error.message)
          onSettled?.()
        },
      },
    )
  }

  async close(): Promise<void> {
    this.#isEnded = true
    this.#requests.close()
  }

  #openStream(): Promise<URL> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => over('it named no endpoint'), ENDPOINT_TIMEOUT_MS)
      const over = (why: string): void => {
        clearTimeout(timer)
        reject(noStreamError(this.#url, why))
        this.#end(why)
      }
      const onOtherEvent = (event: string, data: string): void => {
        if (event !== 'endpoint') return
        clearTimeout(timer)
        resolve(parseEndpoint(data, this.#url))
      }
      let body: HttpBodyReader | undefined
      this.#handlers.signal?.addEventListener('abort', () => over('it was given up'), { once: true })
      this.#requests.send(
        { method: 'GET', headers: STREAM_HEADERS },
        {
          onHead: (head) => {
            body = new HttpBodyReader(head, { onText: this.#handlers.onText, onOtherEvent })
            if (!body.isAcceptedStream) over(`the server answered HTTP ${head.status}`)
          },
          onBody: (chunk) => body?.push(chunk),
          onEnd: () => over('the stream ended'),
          onFail: (error) => over(error.message),
        },
      )
    })
  }

  #end(why: string): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#handlers.onEnd(why)
  }
}

const ENDPOINT_TIMEOUT_MS = 10_000
const STREAM_ENDED = 'the server ended its stream, and with it the session'

/** Headers may hold a token, so they are sent to the origin that the user named and to no other. */
async function parseEndpoint(text: string, url: URL): Promise<URL> {
  const endpoint = URL.canParse(text, url.href) ? new URL(text, url) : undefined
  if (endpoint === undefined) throw noStreamError(url, 'the endpoint that it names is not a URL')
  if (endpoint.origin === url.origin) return endpoint
  throw noStreamError(url, `it wants messages sent to another origin, ${endpoint.origin}`)
}

function noStreamError(url: URL, why: string): ReelayError {
  const hint = 'give the address of the stream, which often ends in /sse; for Streamable HTTP omit --sse'
  return new ReelayError('TARGET_REFUSED', `no event stream at ${url.origin}${url.pathname}: ${why}`, {
    hint,
  })
}
