import { decodeLeaf } from '../json/leaves.ts'
import { findRange } from '../json/find.ts'
import { decodeBase64Text, encodeBase64Like } from './base64.ts'
import type { LocationStep, ValueLocation } from '../bindings/binding.ts'
import { findToken } from './token-place.ts'

/** The message with another value at a spot, every byte outside of that value as it was; undefined when nothing is there. */
export function writeLocation(
  text: string,
  { path, inside }: ValueLocation,
  value: string,
): string | undefined {
  const range = findRange(text, path)
  if (range === undefined) return undefined
  const json = text.slice(range.start, range.end)
  const written = replaceScalar(json, inside, value)
  return written === undefined ? undefined : text.slice(0, range.start) + written + text.slice(range.end)
}

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

// A number stays a number as long as the new value is one; `007` is none.
function replaceScalar(json: string, inside: readonly LocationStep[], value: string): string | undefined {
  if (!json.startsWith('"'))
    return inside.length === 0 && JSON_NUMBER.test(value) ? value : JSON.stringify(value)
  if (inside.length === 0) return JSON.stringify(value)
  const written = replaceInside(decodeLeaf(json, { start: 0, end: json.length }), inside, value)
  return written === undefined ? undefined : JSON.stringify(written)
}

function replaceInside(text: string, inside: readonly LocationStep[], value: string): string | undefined {
  const [lens, ...rest] = inside
  if (lens === undefined) return value
  switch (lens.kind) {
    case 'json':
      return writeLocation(text, { path: lens.path, inside: rest }, value)
    case 'base64':
      return replaceInBase64(text, rest, value)
    case 'token':
      return replaceSpan(text, findToken(text, lens.token), value)
    case 'span':
      return replaceSpan(text, lens, value)
    case 'key':
      return undefined
  }
}

function replaceInBase64(text: string, inside: readonly LocationStep[], value: string): string | undefined {
  const decoded = decodeBase64Text(text)
  const written = decoded === undefined ? undefined : replaceInside(decoded, inside, value)
  return written === undefined ? undefined : encodeBase64Like(text, written)
}

function replaceSpan(
  text: string,
  span: { readonly start: number; readonly end: number } | undefined,
  value: string,
): string | undefined {
  return span === undefined ? undefined : text.slice(0, span.start) + value + text.slice(span.end)
}
