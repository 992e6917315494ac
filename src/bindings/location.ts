import type { LocationStep, ValueLocation, TokenPosition } from './binding.ts'
import { decodeBase64Text, embeddedJson, encodeBase64Like } from './values.ts'
import { memberRanges, findRange, decodeLeaf } from '../json/find-replace.ts'
import type { JsonPath } from '../json/path.ts'

/** Reads the text of a string or the spelling of a number. Returns `undefined` if there is neither at the location. */
export function readLocation(text: string, { path, inside }: ValueLocation): string | undefined {
  const range = findRange(text, path)
  if (range === undefined) return undefined
  const json = text.slice(range.start, range.end)
  const [first] = inside
  if (first?.kind === 'key') return memberNameAt(json, first.index)
  return inside.reduce<string | undefined>(followStep, scalarText(json))
}

/** Returns `undefined` for anything other than a string or a number. */
function scalarText(json: string): string | undefined {
  return /^["\d-]/.test(json) ? decodeLeaf(json, { start: 0, end: json.length }) : undefined
}

function memberNameAt(json: string, index: number): string | undefined {
  return json.startsWith('{') ? [...memberRanges(json).keys()][index] : undefined
}

function followStep(text: string | undefined, step: LocationStep): string | undefined {
  if (text === undefined) return undefined
  switch (step.kind) {
    case 'json':
      return readJsonPath(text, step.path)
    case 'base64':
      return decodeBase64Text(text)
    case 'token':
      return sliceSpan(text, findToken(text, step.token))
    case 'span':
      return text.slice(step.start, step.end)
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

/** Replaces the value at a location and keeps every other byte. Returns `undefined` if the location does not exist. */
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

// A number stays a number if the new value is a JSON number, which `007` is not.
function replaceScalar(json: string, inside: readonly LocationStep[], value: string): string | undefined {
  if (!json.startsWith('"'))
    return inside.length === 0 && JSON_NUMBER.test(value) ? value : JSON.stringify(value)
  if (inside.length === 0) return JSON.stringify(value)
  const written = replaceInside(decodeLeaf(json, { start: 0, end: json.length }), inside, value)
  return written === undefined ? undefined : JSON.stringify(written)
}

function replaceInside(text: string, inside: readonly LocationStep[], value: string): string | undefined {
  const [step, ...rest] = inside
  if (step === undefined) return value
  switch (step.kind) {
    case 'json':
      return writeLocation(text, { path: step.path, inside: rest }, value)
    case 'base64':
      return replaceInBase64(text, rest, value)
    case 'token':
      return replaceSpan(text, findToken(text, step.token), value)
    case 'span':
      return replaceSpan(text, step, value)
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

/** Describes a token so that it can be found in another text of the same format. */
export function describeToken(text: string, start: number, end: number): TokenPosition {
  const joints = jointsOf(text, start, end)
  const tokens = tokensOf(text, joints)
  const before = contextBefore(text, start)
  const alike = tokens.filter((token) => isPrecededBy(text, token, before))
  return {
    before,
    after: contextAfter(text, end),
    rank: alike.findIndex((token) => token.start === start),
    ordinal: tokens.findIndex((token) => token.start === start),
    of: tokens.length,
    joints,
  }
}

/** Finds the described token in another text. Returns `undefined` if no token fits. */
export function findToken(text: string, place: TokenPosition): TokenSpan | undefined {
  const tokens = tokensOf(text, place.joints)
  const alike = tokens.filter((token) => isPrecededBy(text, token, place.before))
  if (alike.length > 0) return alike[place.rank]
  return findByShorterContext(text, tokens, place.before) ?? findByOrdinal(text, tokens, place)
}

// Words further back may have changed as well, so shorter contexts are tried as long as only one token fits.
function findByShorterContext(
  text: string,
  tokens: readonly TokenSpan[],
  before: string,
): TokenSpan | undefined {
  for (const start of [...before.matchAll(/(?<=\P{L})\p{L}/gu)].map(({ index }) => index)) {
    const alike = tokens.filter((token) => isPrecededBy(text, token, before.slice(start)))
    if (alike.length > 0) return alike.length === 1 ? alike[0] : undefined
  }
  return undefined
}

function findByOrdinal(
  text: string,
  tokens: readonly TokenSpan[],
  place: TokenPosition,
): TokenSpan | undefined {
  const token = tokens.length === place.of ? tokens[place.ordinal] : undefined
  if (token === undefined) return undefined
  return contextAfter(text, token.end)[0] === place.after[0] ? token : undefined
}

interface TokenSpan {
  readonly start: number
  readonly end: number
}

const LONGEST_CONTEXT = 24
const LONGEST_AFTER = 8

/**
 * Returns the characters of a token that are neither letters nor digits, each once. Ids of the same format may or may not
 * contain a dash or an underscore, so both are included unless they delimit the token.
 */
function jointsOf(text: string, start: number, end: number): string {
  const ends = `${text[start - 1] ?? ''}${text[end] ?? ''}`
  const usual = ['-', '_'].filter((char) => !ends.includes(char))
  const own = text.slice(start, end).replace(/[\p{L}\p{N}]/gu, '')
  const encoded = /[+/=]/.test(own) && !own.includes(':') ? '+/=' : ''
  return [...new Set([...usual, ...Array.from(own + encoded)])].join('')
}

function tokensOf(text: string, joints: string): readonly TokenSpan[] {
  const escaped = joints.replace(/[\\\]^-]/g, '\\$&')
  const token = new RegExp(`[\\p{L}\\p{N}${escaped}]+`, 'gu')
  return [...text.matchAll(token)].map(({ 0: { length }, index }) =>
    trimPunctuation(text, index, index + length),
  )
}

// A token that may contain dots can be the last word of a sentence.
function trimPunctuation(text: string, start: number, end: number): TokenSpan {
  const last = text[end - 1] ?? ''
  return end - start > 1 && '.,:;'.includes(last) ? { start, end: end - 1 } : { start, end }
}

// Words with digits are likely to change from run to run, so the context starts after them.
function contextBefore(text: string, start: number): string {
  const lead = `\n${text.slice(0, start)}`.slice(-LONGEST_CONTEXT)
  const line = lead.slice(Math.max(0, lead.lastIndexOf('\n')))
  return line.replace(/^.*\p{N}\p{L}*/su, '')
}

function contextAfter(text: string, end: number): string {
  const rest = text.slice(end, end + LONGEST_AFTER)
  return /^[^\p{N}\n]*/u.exec(rest)?.[0] ?? ''
}

function isPrecededBy(text: string, { start }: TokenSpan, before: string): boolean {
  return before !== '' && `\n${text.slice(Math.max(0, start - LONGEST_CONTEXT), start)}`.endsWith(before)
}
