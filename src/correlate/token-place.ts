import type { TokenPlace } from './binding.ts'

/** Describes a token of a text, so that its like can be found in another text of the same making. */
export function tokenPlace(text: string, start: number, end: number): TokenPlace {
  const joints = jointsOf(text, start, end)
  const tokens = tokensOf(text, joints)
  const before = contextBefore(text, start)
  const alike = tokens.filter((token) => follows(text, token, before))
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
export function findToken(text: string, place: TokenPlace): Span | undefined {
  const tokens = tokensOf(text, place.joints)
  const alike = tokens.filter((token) => follows(text, token, place.before))
  const inPlace = place.rank < 0 ? undefined : alike[place.rank]
  if (inPlace !== undefined) return inPlace
  return tokens.length === place.of && alike.length === 0
    ? fittingToken(text, tokens[place.ordinal], place)
    : undefined
}

export interface Span {
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

function tokensOf(text: string, joints: string): readonly Span[] {
  const escaped = joints.replace(/[\\\]^-]/g, '\\$&')
  const token = new RegExp(`[\\p{L}\\p{N}${escaped}]+`, 'gu')
  return [...text.matchAll(token)].map(({ 0: { length }, index }) =>
    withoutFullStop(text, index, index + length),
  )
}

// A sentence may end behind a token that holds dots itself.
function withoutFullStop(text: string, start: number, end: number): Span {
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

function follows(text: string, { start }: Span, before: string): boolean {
  return before !== '' && `\n${text.slice(Math.max(0, start - LONGEST_CONTEXT), start)}`.endsWith(before)
}

function fittingToken(text: string, token: Span | undefined, { after }: TokenPlace): Span | undefined {
  if (token === undefined) return undefined
  return contextAfter(text, token.end)[0] === after[0] ? token : undefined
}
