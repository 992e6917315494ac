import type { RawHeaders } from '../http/headers.ts'
import { parseJson, member } from '../json/parse.ts'
import type { Message } from '../protocol/message.ts'
import { revisionOfRequest } from '../protocol/revisions/index.ts'

/** Returns the input schema of a tool. Arguments that it marks with `x-mcp-header` are repeated as headers. */
export type InputSchemaOf = (tool: string) => unknown

type HeaderRecord = Readonly<Record<string, string>>

/** The headers of the requests of one session. Session id and protocol version become known with the response to `initialize`. */
export class SessionHeaders {
  readonly #inputSchemas = new Map<string, unknown>()
  readonly #inputSchemaOf: InputSchemaOf
  #session: HeaderRecord = {}
  #sessionPost: RawHeaders = POST_HEADERS

  /** The schema of a tool that the server has listed comes before the one that is given here. */
  constructor(inputSchemaOf: InputSchemaOf = () => undefined) {
    this.#inputSchemaOf = (tool) => this.#inputSchemas.get(tool) ?? inputSchemaOf(tool)
  }

  get isInSession(): boolean {
    return SESSION_ID in this.#session
  }

  /** For a POST of this message. Messages of a session get the same list each time, so that it is formatted only once. */
  forMessage(message: Message): RawHeaders {
    if (!('method' in message)) return this.#sessionPost
    const context = { sessionHeaders: this.#session, inputSchemaOf: this.#inputSchemaOf }
    const headers = revisionOfRequest(message.params).postHeaders(message, context)
    return headers === this.#session
      ? this.#sessionPost
      : [...POST_HEADERS, ...Object.entries(headers).flat()]
  }

  /** For a GET of an event stream, which may continue after an event. */
  forStream(lastEventId: string | undefined): RawHeaders {
    const resumed = lastEventId === undefined ? [] : ['last-event-id', lastEventId]
    return [...STREAM_HEADERS, ...this.forDelete(), ...resumed]
  }

  /** For the DELETE that ends the session. */
  forDelete(): RawHeaders {
    return Object.entries(this.#session).flat()
  }

  setSession(id: string): void {
    this.#add(SESSION_ID, id)
  }

  /** Takes what the response to a request says about later requests. */
  learn(method: string, response: string): void {
    if (method === 'initialize') this.#learnVersion(member(resultIn(response), 'protocolVersion'))
    else if (method === 'tools/list') this.#learnTools(member(resultIn(response), 'tools'))
  }

  #learnVersion(version: unknown): void {
    if (typeof version === 'string') this.#add('mcp-protocol-version', version)
  }

  #learnTools(tools: unknown): void {
    if (!Array.isArray(tools)) return
    for (const tool of tools as readonly unknown[]) {
      const name = member(tool, 'name')
      if (typeof name === 'string') this.#inputSchemas.set(name, member(tool, 'inputSchema'))
    }
  }

  #add(name: string, value: string): void {
    this.#session = { ...this.#session, [name]: value }
    this.#sessionPost = [...POST_HEADERS, ...Object.entries(this.#session).flat()]
  }
}

const SESSION_ID = 'mcp-session-id'
const IDENTITY: RawHeaders = ['accept-encoding', 'identity']

export const STREAM_HEADERS: RawHeaders = ['accept', 'text/event-stream', ...IDENTITY]

export const POST_HEADERS: RawHeaders = [
  'content-type',
  'application/json',
  'accept',
  'application/json, text/event-stream',
  ...IDENTITY,
]

function resultIn(response: string): unknown {
  return member(parseJson(response), 'result')
}
