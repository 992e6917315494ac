import { member, type Message, type Request } from '../protocol/message.ts'
import { META_KEYS, metaValue } from '../protocol/methods.ts'
import { encodeHeaderValue } from './header-value.ts'
import type { ToolParamHeaders } from './param-headers.ts'

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
