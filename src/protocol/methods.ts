import { member } from './message.ts'

/** The methods that open a conversation: they are answered whatever the client calls itself. */
export const HANDSHAKE_METHODS: ReadonlySet<string> = new Set(['initialize', 'server/discover'])

/** The revisions that open with `initialize`, newest first. */
export const LEGACY_VERSIONS: readonly string[] = [
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
]

/** The stateless revision: no handshake, an envelope in every request. */
export const MODERN_VERSION = '2026-07-28'

/** The keys of `_meta` that carry meaning on the wire. */
export const META_KEYS = {
  progressToken: 'progressToken',
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const

export function isLegacyVersion(version: unknown): boolean {
  return typeof version === 'string' && LEGACY_VERSIONS.includes(version)
}

/** A value out of `params._meta`. */
export function metaValue(params: unknown, key: string): unknown {
  return member(member(params, '_meta'), key)
}

/** Whether a request carries the modern envelope. Clients send it to find out, so it proves nothing about the server. */
export function hasModernEnvelope(params: unknown): boolean {
  return typeof metaValue(params, META_KEYS.protocolVersion) === 'string'
}

/** The tool or prompt that a request names. Two of them have nothing to compare: one must not be served for the other. */
export function toolOrPromptName({
  method,
  params,
}: {
  method: string
  params?: unknown
}): string | undefined {
  const name = namesToolOrPrompt(method) ? member(params, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}

/** Whether requests of a method name something. */
export function namesToolOrPrompt(method: string): boolean {
  return method === 'tools/call' || method === 'prompts/get'
}
