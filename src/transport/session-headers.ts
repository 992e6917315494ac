import { mirroredHeaders } from '../wire/mirrored-headers.ts'
import { member, type Message } from '../wire/message.ts'
import { isEnveloped } from '../wire/methods.ts'
import { parseJson } from '../wire/parse-json.ts'
import { headerOf } from './http-heads.ts'
import type { ResponseHead } from './response-head.ts'

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
  #posted: Readonly<Record<string, string>> | undefined
  #lastHead: ResponseHead | undefined

  constructor(options: SessionHeadersOptions) {
    this.#options = options
  }

  get isInSession(): boolean {
    return this.#session !== undefined
  }

  /** For a request that posts this message. */
  forMessage(message: Message): Readonly<Record<string, string>> {
    if (!('method' in message) || !isEnveloped(message.params)) return this.#forLegacy()
    const { method, params } = message
    const tool = String(member(params, 'name'))
    const own = mirroredHeaders(method, params, this.#options.inputSchemaOf?.(tool))
    return { ...POSTED, ...own, ...this.#options.headers }
  }

  /** For a request that carries no message. */
  bare(): Readonly<Record<string, string>> {
    return {
      ...(this.#session !== undefined && { 'mcp-session-id': this.#session }),
      ...(this.#version !== undefined && { 'mcp-protocol-version': this.#version }),
      ...this.#options.headers,
    }
  }

  hearHead(head: ResponseHead): void {
    if (this.#session === undefined && head !== this.#lastHead) this.#noteSession(head)
  }

  hearText(text: string): void {
    if (this.#version === undefined && text.includes('"protocolVersion"')) this.#noteVersion(text)
  }

  // The same object as long as it holds the same: the client knows it again, and does not write it anew.
  #forLegacy(): Readonly<Record<string, string>> {
    this.#posted ??= { ...POSTED, ...this.bare() }
    return this.#posted
  }

  #noteSession(head: ResponseHead): void {
    this.#lastHead = head
    this.#session = headerOf(head.headers, 'mcp-session-id')
    this.#posted = undefined
  }

  #noteVersion(text: string): void {
    const version = member(member(parseJson(text), 'result'), 'protocolVersion')
    if (typeof version === 'string') this.#version = version
    this.#posted = undefined
  }
}

const POSTED = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
