import { member, type Message } from '../protocol/message.ts'
import { revisionOfRequest } from '../protocol/revisions/index.ts'
import { parseJson } from '../json/parse.ts'
import { findHeader } from '../http/headers.ts'
import type { HttpResponseHead } from '../http/client/response-reader.ts'

export interface SessionHeadersOptions {
  /** Sent with every request; never to another origin, because redirects are not followed. */
  readonly headers?: Readonly<Record<string, string>>
  /** The input schema of a tool, whose `x-mcp-header` arguments are repeated as headers. */
  readonly inputSchemaOf?: (tool: string) => unknown
}

/** What the requests of a link say in their headers; which session and version that is, it hears from the answers. */
export class SessionHeaders {
  readonly #options: SessionHeadersOptions
  #session: string | undefined
  #version: string | undefined
  #sessionHeaders: Readonly<Record<string, string>> | undefined
  #lastHead: HttpResponseHead | undefined

  constructor(options: SessionHeadersOptions) {
    this.#options = options
  }

  get isInSession(): boolean {
    return this.#session !== undefined
  }

  /** For a request that posts this message. */
  forMessage(message: Message): Readonly<Record<string, string>> {
    if (!('method' in message)) return this.#forSession()
    const sessionHeaders = this.#forSession()
    const { inputSchemaOf, headers } = this.#options
    const own = revisionOfRequest(message.params).postHeaders(message, { sessionHeaders, inputSchemaOf })
    return own === sessionHeaders ? own : { ...POST_HEADERS, ...own, ...headers }
  }

  /** For a request that carries no message. */
  withoutMessage(): Readonly<Record<string, string>> {
    return {
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
      ...this.#options.headers,
    }
  }

  learnFromHead(head: HttpResponseHead): void {
    if (this.#session === undefined && head !== this.#lastHead) this.#noteSession(head)
  }

  learnFromText(text: string): void {
    if (this.#version === undefined && text.includes('"protocolVersion"')) this.#noteVersion(text)
  }

  // The same object as long as it holds the same: the client knows it again, and does not write it anew.
  #forSession(): Readonly<Record<string, string>> {
    this.#sessionHeaders ??= { ...POST_HEADERS, ...this.withoutMessage() }
    return this.#sessionHeaders
  }

  #noteSession(head: HttpResponseHead): void {
    this.#lastHead = head
    this.#session = findHeader(head.headers, 'mcp-session-id')
    this.#sessionHeaders = undefined
  }

  #noteVersion(text: string): void {
    const version = member(member(parseJson(text), 'result'), 'protocolVersion')
    if (typeof version === 'string') this.#version = version
    this.#sessionHeaders = undefined
  }
}

const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
