import type { ParamHeader, RequestHeaders } from '../headers.ts'
import type { JsonObject } from '../../json/parse.ts'
import type { Translator, TranslatorOptions, TranslatorPorts } from '../translation/translator.ts'
import type { Message, Notification, Request, Response, ResponsePayload, RpcError } from '../message.ts'

/**
 * Groups revisions by the form of their requests. In `legacy` revisions `initialize` opens a session. In `modern` ones
 * every request carries its own context. Request keys, the index of a tape and `inspect --json` contain the era.
 */
export type Era = 'legacy' | 'modern'

/** One revision of MCP: the facts and the behaviour in which revisions differ. */
export interface Revision {
  readonly version: string
  readonly era: Era
  /** The version of the official schema that messages are validated against, if there is one. */
  readonly schemaVersion: string | undefined
  /** There are no sessions, and request ids are unique only within one HTTP exchange. */
  readonly isStateless: boolean
  /** Over HTTP, a client cancels a request by closing its exchange. */
  readonly closingCancels: boolean
  /** A client may fetch the rest of a broken event stream in another HTTP exchange. */
  readonly resumesStreams: boolean
  /** A client may send several messages as one JSON array. */
  readonly allowsBatches: boolean
  /** Servers begin an event stream with an empty event, so that it can be resumed before its first message. */
  readonly primesStreams: boolean
  /** The method of the request that opens a conversation. */
  readonly openingMethod: string
  /** The notification that the client sends after the response to the opening request, if there is one. */
  readonly openedNotification: string | undefined
  /** The request that opens a conversation. */
  opening(client: ClientDescription): Opening
  /** The result of the opening request, for a server that is known only by its other responses. */
  openingResult(server: ServerDescription): JsonObject
  /** The version that the server chose in its result of the opening request. */
  agreedVersion(result: unknown): string | undefined
  /** Members that the client adds to `params._meta` of every request. */
  requestMeta(client: ClientDescription): JsonObject
  /** Returns the version in use if the exchange proves that the server speaks a revision like this one. */
  provenBy(exchange: RequestExchange): RevisionProof | undefined
  /** Clients send such a request to find out whether a server speaks the revision. */
  isProbe(request: Request): boolean
  /** The response that every server of this revision gives to a request, whatever else it does. */
  builtInAnswer(
    request: Pick<Request, 'method' | 'params'>,
    server: () => ServerDescription,
  ): ResponsePayload | undefined
  /** The headers of a POST, apart from those that every POST of the client has. */
  postHeaders(message: Request | Notification, context: PostContext): Readonly<Record<string, string>>
  /** Returns the error that a server answers a POST with if its message or its headers break the rules. */
  checkPost(message: Message, headers: RequestHeaders, rules: PostRules): PostError | undefined
  /** The HTTP status of a response that contains a JSON-RPC error. */
  httpStatus(errorCode: unknown): number
  /** The server answered with this error because of the HTTP request around the message, not because of its content. */
  isTransportError(failed: FailedPost): boolean
  /** Lets clients of this revision use a server with sessions if this one has none, or the reverse. */
  translator(options: TranslatorOptions, ports: TranslatorPorts): Translator
}

/** How a client introduces itself. */
export interface ClientDescription {
  readonly info: { readonly name: string; readonly version: string }
  /** The params of a recorded request whose capabilities and version the client takes over. */
  readonly recorded?: unknown
}

export interface ServerDescription {
  readonly version: string
  readonly capabilities: unknown
  readonly serverInfo: unknown
}

interface Opening {
  readonly method: string
  readonly params: JsonObject
}

/** A request and its response, if one came. */
export interface RequestExchange {
  readonly request: Request
  readonly response: Response | undefined
}

interface RevisionProof {
  readonly version: string | undefined
}

export interface PostContext {
  /** The headers that name the session and its version. */
  readonly sessionHeaders: Readonly<Record<string, string>>
  /** The input schema of a tool, if it is known. */
  readonly inputSchemaOf?: ((tool: string) => unknown) | undefined
}

interface PostRules {
  /** The versions that the endpoint accepts. */
  readonly supported: readonly string[]
  /** The headers that repeat arguments of a tool. */
  readonly paramHeadersOf: (tool: string) => readonly ParamHeader[]
}

/** A JSON-RPC error and the HTTP status that it is sent with. */
export interface PostError extends RpcError {
  readonly status: number
}

/** A request that was answered with a JSON-RPC error and with an HTTP error. */
interface FailedPost {
  readonly method: string
  readonly params: unknown
  readonly errorCode: unknown
  /** The version in the header of the request. */
  readonly headerVersion: string | undefined
}
