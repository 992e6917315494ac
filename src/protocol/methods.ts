import { member } from './message.ts'

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

/** A value out of `params._meta`. */
export function metaValue(params: unknown, key: string): unknown {
  return member(member(params, '_meta'), key)
}

/** The version that a request names for itself, as every request of a stateless revision does. */
export function envelopeVersion(params: unknown): string | undefined {
  const version = metaValue(params, META_KEYS.protocolVersion)
  return typeof version === 'string' ? version : undefined
}

/** Clients also send an envelope to find out what a server speaks, so it proves nothing about the server. */
export function hasEnvelope(params: unknown): boolean {
  return envelopeVersion(params) !== undefined
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
