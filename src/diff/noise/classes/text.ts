import { longestCommonSubsequence } from '../../align.ts'
import { proseTokens } from '../../formats/prose.ts'
import {
  areStrings,
  type ClassContext,
  type ClassKind,
  type ClassReader,
  type InferClass,
  type ValueClass,
} from './value-class.ts'

/** Texts with fixed parts, and a class of its own for each gap between them. */
export const template: ClassKind = {
  name: 'text',
  infer: (values, inferPart) => {
    if (!areStrings(values)) return undefined
    const exact = values.map(proseTokens)
    if (exact.some(({ length }) => length > MOST_TOKENS)) return undefined
    const padding = paddingOf(exact)
    const samples = exact.map((tokens) => withoutPadding(tokens, padding))
    // Of symbols alone, such as a bar chart, those that all samples have in common are common by chance.
    if (!samples.some((tokens) => tokens.some((token) => /[\p{L}\p{N}]/u.test(token)))) return undefined
    const fixed = fixedTokens(samples)
    if (!fixed.some((token) => /\S/.test(token))) return undefined
    const gaps = samples.map((tokens) => gapsIn(tokens, fixed))
    if (gaps.includes(undefined)) return undefined
    const classes = Array.from({ length: fixed.length + 1 }, (_, at) => {
      const parts = gaps.map((ofSample) => ofSample?.[at] ?? '')
      return parts.every((part) => part === '') ? undefined : gapClass(parts, inferPart)
    })
    return templateClass(fixed, classes, padding)
  },
  read: readTemplate,
}

function templateClass(
  fixed: readonly string[],
  classes: readonly (ValueClass | undefined)[],
  padding?: Padding,
): ValueClass {
  return {
    text: `text ${JSON.stringify(templateText(fixed, classes))}`,
    written: { is: 'text', ...(padding && { padding }), parts: writtenParts(fixed, classes) },
    accepts: (value, context) =>
      typeof value === 'string' &&
      fitsTemplate(withoutPadding(proseTokens(value), padding), { fixed, classes, context }),
  }
}

/**
 * Which spaces, and repetitions of one symbol, only fill columns, so that their number depends on the values beside them. `inner`: all but
 * those at the beginning of a line.
 */
type Padding = 'inner' | 'all'

/** Returns the padding if samples have the same tokens but for its length, such as tables and bars; `undefined` if it says something. */
function paddingOf(samples: readonly (readonly string[])[]): Padding | undefined {
  const [first, ...others] = samples
  if (others.every((tokens) => fillsIn(tokens) === fillsIn(first))) return undefined
  return (['inner', 'all'] as const).find((padding) => {
    const [one = [], ...more] = samples.map((tokens) => withoutPadding(tokens, padding))
    return more.every(
      (tokens) =>
        tokens.length === one.length &&
        tokens.every((token, at) => (isFill(token) ? token === one[at] : !isFill(one[at]))),
    )
  })
}

function fillsIn(tokens: readonly string[] = []): string {
  return tokens.filter((token) => isFill(token)).join('\n')
}

/** Spaces and symbols, but not the end of a line. */
function isFill(token = ''): boolean {
  return token !== '\n' && /^[^\p{L}\p{N}]+$/u.test(token)
}

function withoutPadding(tokens: readonly string[], padding: Padding | undefined): readonly string[] {
  if (padding === undefined) return tokens
  return tokens.flatMap((token, at) => {
    if (!isFill(token)) return token
    const isAtEdge = isLineEdge(tokens[at - 1]) || isLineEdge(tokens[at + 1])
    if (token.trim() !== '') return token === tokens[at - 1] ? [] : token
    if (isAtEdge) return padding === 'all' ? [] : token
    return ' '
  })
}

function isLineEdge(token: string | undefined): boolean {
  return token === undefined || token === '\n'
}

/** Fixed parts as strings, and classes between them. Tokens that would be cut in another way when they are read are a list. */
function writtenParts(
  fixed: readonly string[],
  classes: readonly (ValueClass | undefined)[],
): readonly unknown[] {
  const parts: unknown[] = []
  let run: string[] = []
  const endRun = (): void => {
    const text = run.join('')
    if (run.length > 0) parts.push(proseTokens(text).join('\0') === run.join('\0') ? text : run)
    run = []
  }
  for (const [at, gap] of classes.entries()) {
    if (gap !== undefined) {
      endRun()
      parts.push(gap.written)
    }
    const token = fixed[at]
    if (token !== undefined) run.push(token)
  }
  endRun()
  return parts
}

function readTemplate(written: ClassReader): ValueClass {
  const fixed: string[] = []
  const classes: (ValueClass | undefined)[] = [undefined]
  for (const part of written.parts('parts', fixedPart)) {
    if ('written' in part) {
      if (classes.at(-1) !== undefined)
        throw written.invalid('parts', 'has two classes without a text between them')
      classes[classes.length - 1] = part
      continue
    }
    for (const token of part) {
      fixed.push(token)
      classes.push(undefined)
    }
  }
  const padding = written.has('padding') ? written.text('padding') : undefined
  if (padding !== undefined && padding !== 'inner' && padding !== 'all')
    throw written.invalid('padding', 'is not inner or all')
  return templateClass(fixed, classes, padding)
}

function fixedPart(part: unknown): readonly string[] | undefined {
  if (typeof part === 'string') return proseTokens(part)
  return Array.isArray(part) && areStrings(part) ? part : undefined
}

const MOST_TOKENS = 20_000

/** Any text of about the size of the samples. */
export const anyText: ClassKind = {
  name: 'any text',
  infer: (values) => {
    if (!areStrings(values)) return undefined
    const lengths = values.map(({ length }) => length)
    const [least, most] = [Math.floor(Math.min(...lengths) / 10), Math.max(...lengths) * 10 + 20]
    return anyTextClass({
      shortest: Math.max(least, Math.min(...lengths, 1)),
      longest: most,
      hasLines: values.some((value) => value.includes('\n')),
      hasSpaces: values.some((value) => /\s/.test(value)),
    })
  },
  read: (written) =>
    anyTextClass({
      shortest: written.number('shortest'),
      longest: written.number('longest'),
      hasLines: written.flag('lines'),
      hasSpaces: written.flag('spaces'),
    }),
}

interface TextShape {
  readonly shortest: number
  readonly longest: number
  readonly hasLines: boolean
  readonly hasSpaces: boolean
}

function anyTextClass({ shortest, longest, hasLines, hasSpaces }: TextShape): ValueClass {
  return {
    text: 'any text',
    written: {
      is: 'any text',
      shortest,
      longest,
      ...(hasLines && { lines: true }),
      ...(hasSpaces && { spaces: true }),
    },
    accepts: (value) =>
      typeof value === 'string' &&
      value.length >= shortest &&
      value.length <= longest &&
      (hasLines || !value.includes('\n')) &&
      (hasSpaces || !/\s/.test(value)),
  }
}

/** A part of a text that may be missing. Only gaps of a template have this class. */
export const optionalText: ClassKind = {
  name: 'optional',
  infer: () => undefined,
  read: (written) => optionalClass(written.part('class')),
}

function optionalClass(ofFilled: ValueClass): ValueClass {
  return {
    text: `${ofFilled.text} or nothing`,
    written: { is: 'optional', class: ofFilled.written },
    accepts: (value, context) => value === '' || ofFilled.accepts(value, context),
  }
}

/** A part of a text that is padded with spaces to the width of a column. Only gaps of a template have this class. */
export const paddedText: ClassKind = {
  name: 'padded',
  infer: () => undefined,
  read: (written) => paddedClass(written.part('class')),
}

function paddedClass(inside: ValueClass): ValueClass {
  return {
    text: inside.text,
    written: { is: 'padded', class: inside.written },
    accepts: (value, context) => typeof value === 'string' && inside.accepts(value.trim(), context),
  }
}

/** A gap may be empty if it was in a sample. */
function gapClass(parts: readonly string[], inferPart: InferClass): ValueClass {
  const filled = parts.filter((part) => part !== '')
  const isPadded =
    filled.some((part) => /^ | $/.test(part)) && filled.every((part) => /^\S+$/.test(part.trim()))
  const ofFilled = isPadded ? paddedClass(inferPart(filled.map((part) => part.trim()))) : inferPart(filled)
  return filled.length === parts.length ? ofFilled : optionalClass(ofFilled)
}

/**
 * The tokens that all samples have in common, in order. If the samples have different numbers of tokens, spaces and punctuation between two gaps
 * are part of the gap, because they are common to all texts.
 */
function fixedTokens(samples: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = samples
  const common = others.reduce<readonly string[]>(
    (tokens, other) => longestCommonSubsequence(tokens, other).map(({ expected }) => tokens[expected] ?? ''),
    first,
  )
  if (samples.every(({ length }) => length === first.length)) return common
  const gaps = samples.map((tokens) => gapsIn(tokens, common))
  const isGap = (at: number): boolean => gaps.some((ofSample) => (ofSample?.[at] ?? '') !== '')
  return common.filter((token, at) => /[\p{L}\p{N}\n]/u.test(token) || !isGap(at) || !isGap(at + 1))
}

/** The texts before, between and after the fixed tokens. Returns `undefined` if a fixed token is missing. */
function gapsIn(tokens: readonly string[], fixed: readonly string[]): readonly string[] | undefined {
  const common = longestCommonSubsequence(fixed, tokens)
  if (common.length !== fixed.length) return undefined
  const ends = [...common.map(({ actual }) => actual), tokens.length]
  return ends.map((end, at) => tokens.slice(at === 0 ? 0 : (ends[at - 1] ?? 0) + 1, end).join(''))
}

interface Template {
  readonly fixed: readonly string[]
  /** One before each fixed token and one after the last; `undefined` where nothing may stand. */
  readonly classes: readonly (ValueClass | undefined)[]
  readonly context: ClassContext
}

const MOST_STEPS = 50_000

/** Tries the places of each fixed token in order, because a gap may contain the token that follows it. */
function fitsTemplate(tokens: readonly string[], { fixed, classes, context }: Template): boolean {
  let steps = 0
  const fitsGap = (at: number, from: number, to: number): boolean => {
    const gap = classes[at]
    if (gap === undefined) return from === to
    return gap.accepts(tokens.slice(from, to).join(''), context)
  }
  /** Positions to return to: which fixed token was placed, where the gap before it began, and where it was placed. */
  const placed: { readonly from: number; at: number }[] = []
  let from = 0
  let next = 0
  for (;;) {
    if (++steps > MOST_STEPS) return false
    const index = placed.length
    if (index === fixed.length && fitsGap(index, from, tokens.length)) return true
    const isOpen = classes[index] !== undefined
    let at =
      index === fixed.length
        ? -1
        : placeOf(fixed[index], next, isOpen ? tokens.length : Math.min(from + 1, tokens.length))
    while (at >= 0 && !fitsGap(index, from, at)) {
      if (++steps > MOST_STEPS) return false
      at = isOpen ? placeOf(fixed[index], at + 1, tokens.length) : -1
    }
    if (at >= 0) {
      placed.push({ from, at })
      from = at + 1
      next = from
      continue
    }
    const last = placed.pop()
    if (last === undefined) return false
    from = last.from
    next = last.at + 1
  }

  function placeOf(token: string | undefined, start: number, end: number): number {
    for (let at = start; at < end; at++) if (tokens[at] === token) return at
    return -1
  }
}

function templateText(fixed: readonly string[], classes: readonly (ValueClass | undefined)[]): string {
  const gap = (at: number): string => (classes[at] === undefined ? '' : `<${classes[at].text}>`)
  return `${fixed.map((token, at) => `${gap(at)}${token}`).join('')}${gap(fixed.length)}`.slice(0, 200)
}
