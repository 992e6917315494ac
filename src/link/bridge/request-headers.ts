import { member, type Message, type Request, isObject, type JsonObject } from '../../protocol/message.ts'
import { META_KEYS, metaValue } from '../../protocol/methods.ts'

/** What a session over HTTP has agreed on so far: learnt from the answers that pass by, and told in the headers of what follows. */
export class NegotiatedSession {
  readonly #params = new ToolParamHeaders()
  #state: NegotiatedState = { session: undefined, version: undefined }

  get state(): NegotiatedState {
    return this.#state
  }

  headersFor(message: Message): readonly string[] {
    return headersForMessage(message, this.#state, this.#params)
  }

  begin(session: string): void {
    this.#state = { ...this.#state, session }
  }

  end(): void {
    this.#state = { ...this.#state, session: undefined }
  }

  learn({ method }: Request, result: unknown): void {
    const version = member(result, 'protocolVersion')
    if (method === 'initialize' && typeof version === 'string') this.#state = { ...this.#state, version }
    if (method === 'tools/list') this.#params.learn(result)
  }
}

/** What a session over HTTP has agreed on. */
export interface NegotiatedState {
  readonly session: string | undefined
  readonly version: string | undefined
}

const JSON_OR_EVENTS = 'application/json, text/event-stream'

/** The headers that Streamable HTTP wants beside a message. In the modern era they repeat what the message says. */
export function headersForMessage(
  message: Message,
  agreed: NegotiatedState,
  params: ToolParamHeaders,
): readonly string[] {
  const common = ['Content-Type', 'application/json', 'Accept', JSON_OR_EVENTS, 'Accept-Encoding', 'identity']
  const version = modernProtocolVersion(message)
  if (version === undefined || message.kind !== 'request') return [...common, ...sessionHeaders(agreed)]
  return [
    ...common,
    'MCP-Protocol-Version',
    encodeHeaderValue(version),
    'Mcp-Method',
    encodeHeaderValue(message.method),
    ...nameHeader(message),
    ...params.headersFor(message),
  ]
}

/** The headers of a request that carries no message. */
export function streamHeaders(agreed: NegotiatedState): readonly string[] {
  return ['Accept', 'text/event-stream', 'Accept-Encoding', 'identity', ...sessionHeaders(agreed)]
}

export function sessionHeaders({ session, version }: NegotiatedState): readonly string[] {
  return [
    ...(session === undefined ? [] : ['Mcp-Session-Id', session]),
    ...(version === undefined ? [] : ['MCP-Protocol-Version', version]),
  ]
}

/** The version that a modern request names itself; undefined in the legacy era. */
export function modernProtocolVersion(message: Message): string | undefined {
  if (message.kind !== 'request') return undefined
  const version = metaValue(message.params, META_KEYS.protocolVersion)
  return typeof version === 'string' ? version : undefined
}

function nameHeader({ method, params }: Request): readonly string[] {
  const names = method.startsWith('tasks/') ? ['taskId'] : ['name', 'uri']
  const name = names.map((key) => member(params, key)).find((value) => typeof value === 'string')
  return name === undefined ? [] : ['Mcp-Name', encodeHeaderValue(name)]
}

/** An argument of a tool that is repeated in a header. */
interface MirroredParam {
  readonly header: string
  readonly path: readonly string[]
}

const MAX_SCHEMA_DEPTH = 32

/**
 * Which arguments of which tools go into headers too: those that a tool's schema marks with `x-mcp-header`. Learnt from the
 * answers to `tools/list` that pass by.
 */
export class ToolParamHeaders {
  readonly #tools = new Map<string, readonly MirroredParam[]>()

  learn(result: unknown): void {
    const tools = member(result, 'tools')
    for (const tool of Array.isArray(tools) ? (tools as readonly unknown[]) : []) {
      const name = member(tool, 'name')
      if (typeof name === 'string') this.#tools.set(name, findMirroredParams(member(tool, 'inputSchema'), []))
    }
  }

  headersFor({ method, params }: Request): readonly string[] {
    const name = member(params, 'name')
    if (method !== 'tools/call' || typeof name !== 'string') return []
    return (this.#tools.get(name) ?? []).flatMap(({ header, path }) => {
      const value = path.reduce(member, member(params, 'arguments'))
      return isScalar(value) ? [`Mcp-Param-${header}`, encodeHeaderValue(String(value))] : []
    })
  }
}

function findMirroredParams(schema: unknown, path: readonly string[]): readonly MirroredParam[] {
  const properties = member(schema, 'properties')
  if (!isObject(properties) || path.length > MAX_SCHEMA_DEPTH) return []
  return Object.entries(properties).flatMap(([key, value]) =>
    isObject(value) ? mirroredParamsAt(value, [...path, key]) : [],
  )
}

function mirroredParamsAt(schema: JsonObject, path: readonly string[]): readonly MirroredParam[] {
  const header = member(schema, 'x-mcp-header')
  const isName = typeof header === 'string' && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header)
  return [...(isName ? [{ header, path }] : []), ...findMirroredParams(schema, path)]
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value)
}

/** A value as a header of 2026-07-28 carries it: as it is where that is safe, else in base64 between marks. */
function encodeHeaderValue(value: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value)
  return isPlain ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}
