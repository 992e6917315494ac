import { member } from './message.ts'

/** The keys of `_meta` that the protocol defines. */
export const META_KEYS = {
  progressToken: 'progressToken',
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const

/** A value of `params._meta`. */
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

/** A request or notification, reduced to what names its subject. */
interface MethodCall {
  readonly method: string
  readonly params?: unknown
}

/** The tool that a request calls. */
export function calledTool({ method, params }: MethodCall): string | undefined {
  const name = method === 'tools/call' ? member(params, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}

/** The tool or prompt that a request names. Requests that name different ones never match each other. */
export function toolOrPromptName({ method, params }: MethodCall): string | undefined {
  const name = namesToolOrPrompt(method) ? member(params, 'name') : undefined
  return typeof name === 'string' ? name : undefined
}

/** Requests of this method name a tool or prompt. */
export function namesToolOrPrompt(method: string): boolean {
  return method === 'tools/call' || method === 'prompts/get'
}
