import { readJson } from './read-json.ts'

/** The values of two texts that are both JSON objects or arrays: they are compared as what they mean. */
export function jsonPair(
  expected: string,
  actual: string,
): { readonly expected: unknown; readonly actual: unknown } | undefined {
  if (!OPENS.test(expected) || !OPENS.test(actual)) return undefined
  const values = { expected: readJson(expected), actual: readJson(actual) }
  return values.expected === undefined || values.actual === undefined ? undefined : values
}

const OPENS = /^\s*[{[]/
