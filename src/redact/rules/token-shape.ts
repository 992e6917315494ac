import { isPlaceholderText } from '../value-checks.ts'
import type { KeywordContext } from '../prefilter/pattern-kinds.ts'
import type { RedactionRule } from './rule.ts'

/** What a kind of token needs besides its shapes. */
interface TokenOptions {
  /** The text that must follow the keyword, if the keyword alone is too common. */
  readonly followedBy?: KeywordContext
  readonly isAnyCase?: true
}

/**
 * Makes a rule from the shapes of a token. A shape is literal text with gaps, such as `ghp_{36+a}`: a number of characters (`8`,
 * `8-12`, or `8+` for at least 8) of a class. `|` at the beginning or at the end means that no further character of a word may be
 * there. `~` at the beginning means that the token is not inside of a long word, such as the base64 of a picture. Only the last gap
 * may have no upper limit. Otherwise a search could take quadratic time.
 */
export function tokenRule(
  name: string,
  service: string,
  shapes: readonly string[],
  options: TokenOptions = {},
): RedactionRule {
  const { followedBy = contextOf(shapes), isAnyCase } = options
  let pattern: RegExp | undefined
  return {
    name,
    service,
    shapes,
    keywords: [...new Set(shapes.map(longestLiteral))],
    prefixes: [...new Set(shapes.map(leadingLiteral))].filter((prefix) => prefix !== ''),
    ...(followedBy && { followedBy }),
    ...notInsideOf(shapes),
    // Created when a text contains a keyword: most rules are never needed.
    get pattern() {
      return (pattern ??= new RegExp(shapes.map(patternOf).join('|'), isAnyCase ? 'gi' : 'g'))
    },
    isSecret: (value) => !isPlaceholderText(value),
  }
}

/** What follows the keywords of these shapes. The prefilter uses it to ignore words that only begin like a token. */
function contextOf(shapes: readonly string[]): KeywordContext | undefined {
  const gaps = shapes.map((shape) => {
    const [, least = '0', , chars = ''] = new RegExp(GAP.source).exec(textOf(shape)) ?? []
    return { chars, least: leadingLiteral(shape) === longestLiteral(shape) ? Number(least) : 0 }
  })
  const isEvery = (least: number, classes: string): boolean =>
    gaps.every((gap) => gap.least >= least && classes.includes(gap.chars))
  if (isEvery(24, 'adhHlu')) return 'long-word'
  if (isEvery(20, 'adhHluw')) return 'long-token'
  return isEvery(12, 'adhHlu') ? 'letters-digits' : undefined
}

/** Makes a text of this shape. `pick` returns a number from 0 up to its argument, which is not included. */
export function exampleOf(shape: string, pick: (below: number) => number): string {
  return textOf(shape).replaceAll(GAP, (_, least: string, most: string, chars: string) => {
    const length =
      Number(least) + (most === '+' ? pick(9) : most ? pick(Number(most.slice(1)) - Number(least) + 1) : 0)
    const alphabet = CLASSES[chars]!.alphabet
    return Array.from({ length }, () => alphabet[pick(alphabet.length)]).join('')
  })
}

const GAP = /\{(\d+)(\+|-\d+)?([a-zA-Z=])\}/g

interface CharacterClass {
  readonly pattern: string
  readonly alphabet: string
}

const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const LOWER = UPPER.toLowerCase()
const DIGITS = '0123456789'

/** The classes of characters in a gap. */
const CLASSES: Readonly<Record<string, CharacterClass>> = {
  a: { pattern: '[A-Za-z0-9]', alphabet: UPPER + LOWER + DIGITS },
  b: { pattern: '[A-Za-z0-9+/]', alphabet: `${UPPER}${LOWER}${DIGITS}+/` },
  d: { pattern: '\\d', alphabet: DIGITS },
  h: { pattern: '[0-9a-f]', alphabet: `${DIGITS}abcdef` },
  H: { pattern: '[0-9A-Fa-f]', alphabet: `${DIGITS}abcdef` },
  l: { pattern: '[a-z0-9]', alphabet: LOWER + DIGITS },
  t: { pattern: '[\\w.-]', alphabet: `${UPPER}${LOWER}${DIGITS}_-` },
  u: { pattern: '[A-Z0-9]', alphabet: UPPER + DIGITS },
  w: { pattern: '[\\w-]', alphabet: `${UPPER}${LOWER}${DIGITS}_-` },
  '=': { pattern: '[\\w.=+/-]', alphabet: `${UPPER}${LOWER}${DIGITS}_-` },
}

function patternOf(shape: string): string {
  const body = textOf(shape)
    .split(/(\{[^}]*\})/)
    .map((part) => {
      const [, least, most = '', chars] = new RegExp(GAP.source).exec(part) ?? []
      if (chars === undefined) return part.replaceAll(/[.$^+*?()[\]\\/]/g, String.raw`\$&`)
      return `${CLASSES[chars]!.pattern}{${least}${most === '' ? '' : `,${most.replace(/[+-]/, '')}`}}`
    })
    .join('')
  return (BEFORE[shape[0]!] ?? '') + body + (shape.endsWith('|') ? '(?![\\w-])' : '')
}

const BEFORE: Readonly<Record<string, string>> = {
  '|': '(?<![\\w-])',
  '~': '(?<![A-Za-z0-9+]{7}[A-Za-z0-9])',
}

/** A shape without its marks. */
function textOf(shape: string): string {
  return shape.replaceAll(/^[|~]|\|$/g, '')
}

function notInsideOf(shapes: readonly string[]): Pick<RedactionRule, 'notInside'> {
  if (shapes.every((shape) => shape.startsWith('|'))) return { notInside: 'word' }
  return shapes.every((shape) => /^[|~]/.test(shape)) ? { notInside: 'long-word' } : {}
}

function leadingLiteral(shape: string): string {
  return textOf(shape).split('{')[0]!
}

function longestLiteral(shape: string): string {
  const literals = textOf(shape).split(/\{[^}]*\}/)
  return literals.reduce((longest, each) => (each.length > longest.length ? each : longest), '')
}
