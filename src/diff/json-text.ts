import { parseExactJson } from './exact-json.ts'

/** The values of two texts that are both JSON objects or arrays: they are compared as what they mean. */
export function parseJsonPair(
  expected: string,
  actual: string,
): { readonly expected: unknown; readonly actual: unknown } | undefined {
  if (!STARTS_CONTAINER.test(expected) || !STARTS_CONTAINER.test(actual)) return undefined
  const values = { expected: parseExactJson(expected), actual: parseExactJson(actual) }
  return values.expected === undefined || values.actual === undefined ? undefined : values
}

const STARTS_CONTAINER = /^\s*[{[]/
