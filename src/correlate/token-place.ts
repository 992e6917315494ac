import type { TokenPosition } from '../bindings/binding.ts'

/** Describes a token of a text, so that its like can be found in another text of the same making. */
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

/** The token of another text at that place; undefined when nothing there is like it. */
export function findToken(text: string, place: TokenPosition): TokenSpan | undefined {
  const tokens = tokensOf(text, place.joints)
  const alike = tokens.filter((token) => isPrecededBy(text, token, place.before))
  if (alike.length > 0) return alike[place.rank]
  return findByShorterContext(text, tokens, place.before) ?? findByOrdinal(text, tokens, place)
}

// Words further back may have changed as well: the last ones before the token serve, as long as they name one token only.
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

export interface TokenSpan {
  readonly start: number
  readonly end: number
}

const LONGEST_CONTEXT = 24
const LONGEST_AFTER = 8

/**
 * The characters of a token that are neither letters nor digits, each once. Ids of one making may or may not hold a dash or
 * an underscore, so these belong to a token wherever they do not end it.
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

// A sentence may end behind a token that holds dots itself.
function trimPunctuation(text: string, start: number, end: number): TokenSpan {
  const last = text[end - 1] ?? ''
  return end - start > 1 && '.,:;'.includes(last) ? { start, end: end - 1 } : { start, end }
}

// Neighbours that hold digits are likely to change from run to run, so the context starts behind them.
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
