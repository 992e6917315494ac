import { isObject } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'

/**
 * Whether a fetch talks to an MCP server: it has the shape that Streamable HTTP demands, or it comes from an SDK and has that of
 * the legacy SSE transport. Everything else is `other`.
 */
export function classifyFetch(
  init: RequestInit | undefined,
  isFromSdk: boolean,
): 'streamable' | 'sse stream' | 'sse message' | 'other' {
  const headers = headersOf(init)
  const accepted = headers?.get('accept') ?? ''
  const acceptsStream = accepted.includes('text/event-stream')
  const isMcp = ['mcp-session-id', 'mcp-protocol-version'].some((name) => headers?.has(name) === true)
  switch (init?.method ?? 'GET') {
    case 'POST':
      if (!isJsonRpc(init?.body)) return 'other'
      if (acceptsStream && accepted.includes('application/json')) return 'streamable'
      return isFromSdk ? 'sse message' : 'other'
    case 'GET':
      if (!acceptsStream) return 'other'
      return isMcp ? 'streamable' : isFromSdk ? 'sse stream' : 'other'
    case 'DELETE':
      return isMcp ? 'streamable' : 'other'
    default:
      return 'other'
  }
}

function headersOf(init: RequestInit | undefined): Headers | undefined {
  try {
    return new Headers(init?.headers)
  } catch {
    return undefined // fetch itself will say what is wrong with them
  }
}

function isJsonRpc(body: unknown): boolean {
  const value = typeof body === 'string' ? parseJson(body) : undefined
  const [first] = Array.isArray(value) ? (value as unknown[]) : [value]
  return isObject(first) && first['jsonrpc'] === '2.0'
}
