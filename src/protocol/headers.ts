import { isObject, member, type JsonObject } from './message.ts'
import { META_KEYS, metaValue } from './methods.ts'

/** The headers that 2026-07-28 wants on every POST: they repeat what the body says. */
export function mirroredHeaders(
  method: string,
  params: unknown,
  inputSchema?: unknown,
): Readonly<Record<string, string>> {
  const version = metaValue(params, META_KEYS.protocolVersion)
  const name = nameHeaderValue(method, params)
  return {
    ...(typeof version === 'string' && { 'mcp-protocol-version': version }),
    'mcp-method': encodeHeaderValue(method),
    ...(name !== undefined && { 'mcp-name': encodeHeaderValue(name) }),
    ...(method === 'tools/call' && paramHeaders(member(params, 'arguments'), inputSchema)),
  }
}

function nameHeaderValue(method: string, params: unknown): string | undefined {
  const name = method.startsWith('tasks/')
    ? member(params, 'taskId')
    : (member(params, 'name') ?? member(params, 'uri'))
  return typeof name === 'string' ? name : undefined
}

/** Arguments whose schema says `x-mcp-header`, which stands only on a pure path of `properties`. */
function paramHeaders(values: unknown, schema: unknown): Readonly<Record<string, string>> {
  const properties = member(schema, 'properties')
  if (!isObject(properties) || !isObject(values)) return {}
  return Object.entries(properties).reduce((headers, [name, property]) => {
    const value = member(values, name)
    return { ...headers, ...paramHeader(property, value), ...paramHeaders(value, property) }
  }, {})
}

function paramHeader(property: unknown, value: unknown): JsonObject {
  const header = member(property, 'x-mcp-header')
  if (typeof header !== 'string' || !/^[\w-]+$/.test(header) || !canBeMirrored(value)) return {}
  return { [`mcp-param-${header.toLowerCase()}`]: encodeHeaderValue(String(value)) }
}

function canBeMirrored(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || Number.isInteger(value)
}

/** A value as a header carries it: what is not plain ASCII, or looks like the sentinel itself, is base64. */
function encodeHeaderValue(value: string): string {
  const isPlain = /^[\u0021-\u007e](?:[\u0020-\u007e]*[\u0021-\u007e])?$/.test(value)
  if (isPlain && !value.startsWith('=?base64?')) return value
  return `=?base64?${base64(new TextEncoder().encode(value))}?=`
}

function base64(bytes: Uint8Array): string {
  return btoa(String.fromCodePoint(...bytes))
}
