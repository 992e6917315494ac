import { isObject } from '../json/parse.ts'
import type { SessionCall } from './session-calls.ts'

/** A call as a snapshot keeps it: what was asked, and the form of the answer without values that change. */
export interface CallShape {
  readonly request: string
  readonly arguments?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** The calls of a session without volatile values, such as times and ids, for snapshots. */
export function sessionShape(calls: readonly SessionCall[]): readonly CallShape[] {
  return calls.map(({ method, tool, params, args, result, error }) => {
    const sent = tool === undefined ? withoutMeta(params) : args
    return {
      request: tool === undefined ? method : `${method} ${tool}`,
      ...(sent !== undefined && { arguments: masked(sent) }),
      ...(result !== undefined && { result: masked(withoutMeta(result)) }),
      ...(error !== undefined && { error: masked(error) }),
    }
  })
}

function withoutMeta(value: unknown): unknown {
  if (!isObject(value)) return value
  const { _meta, ...rest } = value
  return rest
}

/** Replaces values that differ from run to run by names of their kinds. */
function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskedText(value)
  if (Array.isArray(value)) return value.map(masked)
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, masked(each)]))
  return typeof value === 'number' && isTimestamp(value) ? '<timestamp>' : value
}

const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?/g, '<time>'],
  [/\b1[4-9]\d{8}(\d{3})?\b/g, '<timestamp>'],
  [/\b\d+(\.\d+)? ?(ms|seconds|secs?)\b/g, '<duration>'],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{16,}\b/gi, '<hex>'],
]

function maskedText(text: string): string {
  return VOLATILE.reduce((shown, [pattern, name]) => shown.replace(pattern, name), text)
}

/** Seconds or milliseconds since 1970, between 2014 and 2033. */
function isTimestamp(value: number): boolean {
  const seconds = value > 1e11 ? value / 1000 : value
  return seconds > 1.4e9 && seconds < 2e9
}
