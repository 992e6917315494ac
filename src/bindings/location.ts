import { decodeLeaf } from '../json/leaves.ts'
import { memberRanges, findRange, type JsonPath } from '../json/find.ts'
import { decodeBase64Text } from '../correlate/base64.ts'
import type { LocationStep, ValueLocation } from './binding.ts'
import { findToken } from '../correlate/token-place.ts'
import { embeddedJson } from './values.ts'

/** The value at a spot of a message: a string's text, or a number as it is spelled; undefined when it is not there. */
export function readLocation(text: string, { path, inside }: ValueLocation): string | undefined {
  const range = findRange(text, path)
  if (range === undefined) return undefined
  const json = text.slice(range.start, range.end)
  const [first] = inside
  if (first?.kind === 'key') return memberNameAt(json, first.index)
  return inside.reduce<string | undefined>(followStep, scalarText(json))
}

/** The text of a string or number; undefined for what is neither. */
function scalarText(json: string): string | undefined {
  return /^["\d-]/.test(json) ? decodeLeaf(json, { start: 0, end: json.length }) : undefined
}

function memberNameAt(json: string, index: number): string | undefined {
  return json.startsWith('{') ? [...memberRanges(json).keys()][index] : undefined
}

function followStep(text: string | undefined, lens: LocationStep): string | undefined {
  if (text === undefined) return undefined
  switch (lens.kind) {
    case 'json':
      return readJsonPath(text, lens.path)
    case 'base64':
      return decodeBase64Text(text)
    case 'token':
      return sliceSpan(text, findToken(text, lens.token))
    case 'span':
      return text.slice(lens.start, lens.end)
    case 'key':
      return undefined
  }
}

function readJsonPath(text: string, path: JsonPath): string | undefined {
  const json = embeddedJson(text)
  const range = json === undefined ? undefined : findRange(json, path)
  return json === undefined || range === undefined
    ? undefined
    : scalarText(json.slice(range.start, range.end))
}

function sliceSpan(
  text: string,
  span: { readonly start: number; readonly end: number } | undefined,
): string | undefined {
  return span === undefined ? undefined : text.slice(span.start, span.end)
}
