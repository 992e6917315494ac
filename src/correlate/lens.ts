import { leafText } from '../wire/leaves.ts'
import { membersOf, rangeAt, type Path } from '../wire/members.ts'
import { decodeBase64 } from './base64.ts'
import type { Lens } from './binding.ts'
import { findToken } from './token-place.ts'
import { jsonIn } from './values.ts'

/** Where a value is looked for: a path in a message, and the way into the text there. */
export interface Spot {
  readonly path: Path
  readonly inside: readonly Lens[]
}

/** The value at a spot of a message: a string's text, or a number as it is spelled; undefined when it is not there. */
export function readSpot(text: string, { path, inside }: Spot): string | undefined {
  const range = rangeAt(text, path)
  if (range === undefined) return undefined
  const json = text.slice(range.start, range.end)
  const [first] = inside
  if (first?.kind === 'key') return keyAt(json, first.index)
  return inside.reduce<string | undefined>(lookInto, scalarIn(json))
}

/** The text of a string or number; undefined for what is neither. */
export function scalarIn(json: string): string | undefined {
  return /^["\d-]/.test(json) ? leafText(json, { start: 0, end: json.length }) : undefined
}

function keyAt(json: string, index: number): string | undefined {
  return json.startsWith('{') ? [...membersOf(json).keys()][index] : undefined
}

function lookInto(text: string | undefined, lens: Lens): string | undefined {
  if (text === undefined) return undefined
  switch (lens.kind) {
    case 'json':
      return jsonAt(text, lens.path)
    case 'base64':
      return decodeBase64(text)
    case 'token':
      return sliceOf(text, findToken(text, lens.token))
    case 'span':
      return text.slice(lens.start, lens.end)
    case 'key':
      return undefined
  }
}

function jsonAt(text: string, path: Path): string | undefined {
  const json = jsonIn(text)
  const range = json === undefined ? undefined : rangeAt(json, path)
  return json === undefined || range === undefined ? undefined : scalarIn(json.slice(range.start, range.end))
}

function sliceOf(
  text: string,
  span: { readonly start: number; readonly end: number } | undefined,
): string | undefined {
  return span === undefined ? undefined : text.slice(span.start, span.end)
}
