import { leafText } from '../wire/leaves.ts'
import { rangeAt } from '../wire/members.ts'
import { decodeBase64, encodeLike } from './base64.ts'
import type { Lens, Spot } from './binding.ts'
import { findToken } from './token-place.ts'

/** The message with another value at a spot, every byte outside of that value as it was; undefined when nothing is there. */
export function writeSpot(text: string, { path, inside }: Spot, value: string): string | undefined {
  const range = rangeAt(text, path)
  if (range === undefined) return undefined
  const json = text.slice(range.start, range.end)
  const written = withScalar(json, inside, value)
  return written === undefined ? undefined : text.slice(0, range.start) + written + text.slice(range.end)
}

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

// A number stays a number as long as the new value is one; `007` is none.
function withScalar(json: string, inside: readonly Lens[], value: string): string | undefined {
  if (!json.startsWith('"'))
    return inside.length === 0 && JSON_NUMBER.test(value) ? value : JSON.stringify(value)
  if (inside.length === 0) return JSON.stringify(value)
  const written = withInside(leafText(json, { start: 0, end: json.length }), inside, value)
  return written === undefined ? undefined : JSON.stringify(written)
}

function withInside(text: string, inside: readonly Lens[], value: string): string | undefined {
  const [lens, ...rest] = inside
  if (lens === undefined) return value
  switch (lens.kind) {
    case 'json':
      return writeSpot(text, { path: lens.path, inside: rest }, value)
    case 'base64':
      return withBase64(text, rest, value)
    case 'token':
      return withSpan(text, findToken(text, lens.token), value)
    case 'span':
      return withSpan(text, lens, value)
    case 'key':
      return undefined
  }
}

function withBase64(text: string, inside: readonly Lens[], value: string): string | undefined {
  const decoded = decodeBase64(text)
  const written = decoded === undefined ? undefined : withInside(decoded, inside, value)
  return written === undefined ? undefined : encodeLike(text, written)
}

function withSpan(
  text: string,
  span: { readonly start: number; readonly end: number } | undefined,
  value: string,
): string | undefined {
  return span === undefined ? undefined : text.slice(0, span.start) + value + text.slice(span.end)
}
