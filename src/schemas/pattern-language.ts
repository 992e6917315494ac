import { compilePattern } from './schema-document.ts'

/** What a regular expression says, as far as it is understood: no lookarounds, back references, properties or word boundaries. */
export type PatternTree =
  | { readonly kind: 'characters'; readonly ranges: readonly CharacterRange[] }
  | { readonly kind: 'sequence'; readonly items: readonly PatternTree[] }
  | { readonly kind: 'either'; readonly options: readonly PatternTree[] }
  | { readonly kind: 'repeat'; readonly item: PatternTree; readonly least: number; readonly most: number }
  | { readonly kind: 'start' }
  | { readonly kind: 'end' }

/** The first and the last code point. */
type CharacterRange = readonly [number, number]

/** Reads a pattern. Returns `undefined` if it has anything that is not understood. */
export function readPattern(source: string): PatternTree | undefined {
  try {
    return compilePattern(source).flags.includes('u') ? new PatternReader(source).read() : undefined
  } catch {
    return undefined
  }
}

/** What schemas say about a text. */
export interface TextRules {
  readonly patterns: readonly string[]
  readonly least: number
  readonly most: number
}

/**
 * Compares two sets of texts exactly: those that follow all rules of one side, and those that follow the rules of the other. `within`: all of
 * the first are among the second. `outside`: this one is not, and is one of the shortest. Returns `undefined` if that cannot be decided.
 */
export function compareTexts(
  ours: TextRules,
  theirs: TextRules,
): { readonly kind: 'within' } | { readonly kind: 'outside'; readonly text: string } | undefined {
  const [left, right] = [automataOf(ours), automataOf(theirs)]
  if (left === undefined || right === undefined) return undefined
  try {
    const text = new TextSearch([...left, ...right]).shortest(
      (accepted) =>
        accepted.slice(0, left.length).every(Boolean) && !accepted.slice(left.length).every(Boolean),
      left.length,
    )
    return text === undefined ? { kind: 'within' } : { kind: 'outside', text }
  } catch (error) {
    if (error instanceof TooLarge) return undefined
    throw error
  }
}

/** Whether no text follows the rules; `undefined` if that cannot be decided. */
export function isWithoutTexts(rules: TextRules): boolean | undefined {
  const found = compareTexts(rules, { patterns: [NEVER], least: 0, most: Infinity })
  return found && found.kind === 'within'
}

/** A pattern that no text matches. */
const NEVER = '[]'

class TooLarge extends Error {}

const MOST_STATES = 3_000
const MOST_STEPS = 1_000_000
const HIGHEST = 0x10ffff
const ANY: PatternTree = { kind: 'characters', ranges: [[0, HIGHEST]] }
const ANYTHING: PatternTree = { kind: 'repeat', item: ANY, least: 0, most: Infinity }
/** Longer texts would need too many states. */
const LONGEST_COUNTED = 1_000

function automataOf({ patterns, least, most }: TextRules): readonly Automaton[] | undefined {
  const trees: PatternTree[] = []
  for (const source of patterns) {
    const tree = readPattern(source)
    if (tree === undefined) return undefined
    // A pattern may match anywhere in the text.
    trees.push({ kind: 'sequence', items: [ANYTHING, tree, ANYTHING] })
  }
  if (least > LONGEST_COUNTED || (most > LONGEST_COUNTED && most !== Infinity)) return undefined
  if (least > 0 || most !== Infinity || trees.length === 0)
    trees.push({
      kind: 'sequence',
      items: [{ kind: 'start' }, { kind: 'repeat', item: ANY, least, most }, { kind: 'end' }],
    })
  try {
    return trees.map((tree) => new Automaton(tree))
  } catch (error) {
    if (error instanceof TooLarge) return undefined
    throw error
  }
}

interface AutomatonState {
  readonly empty: number[]
  readonly atStart: number[]
  readonly atEnd: number[]
  readonly edges: { readonly ranges: readonly CharacterRange[]; readonly to: number }[]
}

/** A set of states, and whether nothing was read yet. */
interface Reached {
  readonly states: ReadonlySet<number>
  readonly key: string
}

/** Reads texts one character at a time, for all ways in which a pattern can match at once. */
class Automaton {
  readonly #states: AutomatonState[] = []
  readonly #final: number
  readonly start: Reached

  constructor(tree: PatternTree) {
    const first = this.#state()
    this.#final = this.#build(tree, first)
    this.start = { ...this.#closure([first], 'atStart'), key: 'start' }
  }

  get ranges(): readonly (readonly CharacterRange[])[] {
    return this.#states.flatMap(({ edges }) => edges.map(({ ranges }) => ranges))
  }

  accepts(reached: Reached): boolean {
    const isFirst = reached.key === 'start'
    return this.#closure(reached.states, 'atEnd', isFirst).states.has(this.#final)
  }

  after(reached: Reached, char: number): Reached {
    const next = new Set<number>()
    for (const state of reached.states)
      for (const { ranges, to } of this.#states[state]?.edges ?? [])
        if (!next.has(to) && ranges.some(([first, last]) => first <= char && char <= last)) next.add(to)
    return this.#closure(next)
  }

  #closure(from: Iterable<number>, anchor?: 'atStart' | 'atEnd', isFirst = false): Reached {
    const states = new Set(from)
    for (const state of states) {
      const { empty = [], atStart = [], atEnd = [] } = this.#states[state] ?? {}
      for (const to of empty) states.add(to)
      if (anchor === 'atStart' || isFirst) for (const to of atStart) states.add(to)
      if (anchor === 'atEnd') for (const to of atEnd) states.add(to)
    }
    return { states, key: [...states].toSorted((one, other) => one - other).join(',') }
  }

  #state(): number {
    if (this.#states.length >= MOST_STATES) throw new TooLarge()
    return this.#states.push({ empty: [], atStart: [], atEnd: [], edges: [] }) - 1
  }

  /** Adds the states of a tree, and returns the one after it. */
  #build(tree: PatternTree, from: number): number {
    const at = this.#states[from]
    switch (tree.kind) {
      case 'characters': {
        const to = this.#state()
        at?.edges.push({ ranges: tree.ranges, to })
        return to
      }
      case 'start':
      case 'end': {
        const to = this.#state()
        at?.[tree.kind === 'start' ? 'atStart' : 'atEnd'].push(to)
        return to
      }
      case 'sequence':
        return tree.items.reduce((state, item) => this.#build(item, state), from)
      case 'either': {
        const to = this.#state()
        for (const option of tree.options) {
          const first = this.#state()
          at?.empty.push(first)
          this.#states[this.#build(option, first)]?.empty.push(to)
        }
        return to
      }
      case 'repeat':
        return this.#buildRepeat(tree.item, tree.least, tree.most, from)
    }
  }

  #buildRepeat(item: PatternTree, least: number, most: number, from: number): number {
    if (least > LONGEST_COUNTED || (most > LONGEST_COUNTED && most !== Infinity)) throw new TooLarge()
    let state = from
    for (let count = 0; count < least; count++) state = this.#build(item, state)
    const to = this.#state()
    if (most === Infinity) {
      const loop = this.#state()
      this.#states[state]?.empty.push(loop)
      this.#states[loop]?.empty.push(to)
      this.#states[this.#build(item, loop)]?.empty.push(loop)
      return to
    }
    for (let count = least; count < most; count++) {
      this.#states[state]?.empty.push(to)
      state = this.#build(item, state)
    }
    this.#states[state]?.empty.push(to)
    return to
  }
}

/** Searches texts in order of their length, of characters that some automaton tells apart. */
class TextSearch {
  readonly #automata: readonly Automaton[]
  readonly #characters: readonly number[]

  constructor(automata: readonly Automaton[]) {
    this.#automata = automata
    this.#characters = charactersToTry(automata.flatMap(({ ranges }) => ranges))
  }

  /** The shortest text that is wanted. The first `needed` automata have to be able to accept it. */
  shortest(isWanted: (accepted: readonly boolean[]) => boolean, needed: number): string | undefined {
    const seen = new Set<string>()
    let steps = 0
    let level: { readonly reached: readonly Reached[]; readonly text: string }[] = [
      { reached: this.#automata.map(({ start }) => start), text: '' },
    ]
    while (level.length > 0) {
      const next: typeof level = []
      for (const { reached, text } of level) {
        if (isWanted(this.#automata.map((automaton, at) => automaton.accepts(reached[at]!)))) return text
        for (const char of this.#characters) {
          steps += reached.reduce((sum, { states }) => sum + states.size, 1)
          if (steps > MOST_STEPS || seen.size > MOST_STATES) throw new TooLarge()
          const after = this.#automata.map((automaton, at) => automaton.after(reached[at]!, char))
          if (after.slice(0, needed).some(({ states }) => states.size === 0)) continue
          const key = after.map((one) => one.key).join(' ')
          if (seen.has(key)) continue
          seen.add(key)
          next.push({ reached: after, text: text + String.fromCodePoint(char) })
        }
      }
      level = next
    }
    return undefined
  }
}

/** One character of each kind: two that all ranges treat alike need not both be tried. */
function charactersToTry(all: readonly (readonly CharacterRange[])[]): readonly number[] {
  const cuts = new Set([0, 0xd800, 0xe000, ...FAMILIAR.flatMap(([first, last]) => [first, last + 1])])
  for (const ranges of all) for (const [first, last] of ranges) cuts.add(first).add(last + 1)
  const starts = [...cuts].filter((cut) => cut <= HIGHEST).toSorted((one, other) => one - other)
  const kinds = new Map<string, number>()
  const classes = [
    ...new Map(all.map((ranges) => [ranges.map((range) => range.join('-')).join(), ranges])).values(),
  ]
  const rank = (char: number): number => {
    const at = FAMILIAR.findIndex(([first, last]) => first <= char && char <= last)
    return at < 0 ? FAMILIAR.length : at
  }
  for (const char of starts) {
    if (char >= 0xd800 && char < 0xe000) continue
    const kind = classes
      .map((ranges) => (ranges.some(([first, last]) => first <= char && char <= last) ? 1 : 0))
      .join('')
    const known = kinds.get(kind)
    if (known === undefined || rank(char) < rank(known)) kinds.set(kind, char)
  }
  return [...kinds.values()].toSorted((one, other) => rank(one) - rank(other))
}

const between = (first: string, last = first): CharacterRange => [
  first.codePointAt(0) ?? 0,
  last.codePointAt(0) ?? 0,
]
/** Characters that people can read and type. */
const FAMILIAR: readonly CharacterRange[] = [between('a', 'z'), between('A', 'Z'), between('0', '9')]
const DIGITS: readonly CharacterRange[] = [between('0', '9')]
const WORD: readonly CharacterRange[] = [...FAMILIAR, between('_')]
const SPACES: readonly CharacterRange[] = [
  between('\t', '\r'),
  between(' '),
  ...['\u00a0', '\u1680', '\u202f', '\u205f', '\u3000', '\ufeff'].map((char) => between(char)),
  between('\u2000', '\u200a'),
  between('\u2028', '\u2029'),
]
const LINE_ENDS: readonly CharacterRange[] = [between('\n'), between('\r'), between('\u2028', '\u2029')]

function allBut(ranges: readonly CharacterRange[]): readonly CharacterRange[] {
  const kept: CharacterRange[] = []
  let next = 0
  for (const [first, last] of ranges.toSorted((one, other) => one[0] - other[0])) {
    if (first > next) kept.push([next, first - 1])
    next = Math.max(next, last + 1)
  }
  if (next <= HIGHEST) kept.push([next, HIGHEST])
  return kept
}

const ESCAPED_CLASSES: Readonly<Record<string, readonly CharacterRange[]>> = {
  d: DIGITS,
  D: allBut(DIGITS),
  w: WORD,
  W: allBut(WORD),
  s: SPACES,
  S: allBut(SPACES),
}
const ESCAPED_CHARACTERS: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  v: '\v',
  f: '\f',
  0: '\0',
}

class PatternReader {
  readonly #chars: readonly string[]
  #at = 0

  constructor(source: string) {
    this.#chars = Array.from(source)
  }

  read(): PatternTree | undefined {
    const tree = this.#either(0)
    return this.#at === this.#chars.length ? tree : undefined
  }

  #either(depth: number): PatternTree {
    if (depth > 40) throw new Error('too deep')
    const options = [this.#sequence(depth)]
    while (this.#chars[this.#at] === '|') {
      this.#at++
      options.push(this.#sequence(depth))
    }
    return options.length === 1 && options[0] !== undefined ? options[0] : { kind: 'either', options }
  }

  #sequence(depth: number): PatternTree {
    const items: PatternTree[] = []
    while (this.#at < this.#chars.length && !'|)'.includes(this.#chars[this.#at] ?? ''))
      items.push(this.#quantified(depth))
    return { kind: 'sequence', items }
  }

  #quantified(depth: number): PatternTree {
    const item = this.#atom(depth)
    const [text, least, comma, most] = /^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/u.exec(this.#rest(20)) ?? []
    if (text === undefined) return item
    this.#at += text.length
    if (text.startsWith('*')) return { kind: 'repeat', item, least: 0, most: Infinity }
    if (text.startsWith('+')) return { kind: 'repeat', item, least: 1, most: Infinity }
    if (text.startsWith('?')) return { kind: 'repeat', item, least: 0, most: 1 }
    const from = Number(least)
    const to = comma === '' ? from : most === '' ? Infinity : Number(most)
    return { kind: 'repeat', item, least: from, most: to }
  }

  #rest(length: number): string {
    return this.#chars.slice(this.#at, this.#at + length).join('')
  }

  #atom(depth: number): PatternTree {
    const char = this.#chars[this.#at++] ?? ''
    if (char === '^') return { kind: 'start' }
    if (char === '$') return { kind: 'end' }
    if (char === '.') return { kind: 'characters', ranges: allBut(LINE_ENDS) }
    if (char === '(') return this.#group(depth)
    if (char === '[') return { kind: 'characters', ranges: this.#class() }
    if (char === '\\') return { kind: 'characters', ranges: this.#escape() }
    return { kind: 'characters', ranges: [between(char)] }
  }

  #group(depth: number): PatternTree {
    const [name] = /^\?(?:<[^=!][^>]*>|:)/u.exec(this.#rest(100)) ?? []
    if (name !== undefined) this.#at += Array.from(name).length
    else if (this.#chars[this.#at] === '?') throw new Error('not understood')
    const tree = this.#either(depth + 1)
    if (this.#chars[this.#at++] !== ')') throw new Error('not closed')
    return tree
  }

  #escape(): readonly CharacterRange[] {
    const char = this.#chars[this.#at++] ?? ''
    const ranges = ESCAPED_CLASSES[char]
    if (ranges !== undefined) return ranges
    const plain = ESCAPED_CHARACTERS[char]
    if (plain !== undefined) return [between(plain)]
    const [hex] =
      char === 'x'
        ? (/^[0-9a-f]{2}/iu.exec(this.#rest(2)) ?? [])
        : char === 'u'
          ? (/^(?:[0-9a-f]{4}|\{[0-9a-f]{1,6}\})/iu.exec(this.#rest(8)) ?? [])
          : []
    if (hex !== undefined) {
      this.#at += hex.length
      const code = Number.parseInt(hex.replaceAll(/[{}]/gu, ''), 16)
      if (code >= 0xd800 && code < 0xe000) throw new Error('not understood')
      return [[code, code]]
    }
    if (/[\p{L}\d]/u.test(char) || char === '') throw new Error('not understood')
    return [between(char)]
  }

  #class(): readonly CharacterRange[] {
    const isNegated = this.#chars[this.#at] === '^'
    if (isNegated) this.#at++
    const ranges: CharacterRange[] = []
    while (this.#chars[this.#at] !== ']') {
      const first = this.#member()
      const isRange = this.#chars[this.#at] === '-' && this.#chars[this.#at + 1] !== ']'
      if (!isRange) {
        ranges.push(...first)
        continue
      }
      this.#at++
      const last = this.#member()
      const [from, to] = [first[0], last[0]]
      if (first.length !== 1 || last.length !== 1 || from === undefined || to === undefined)
        throw new Error('not understood')
      ranges.push([from[0], to[1]])
    }
    this.#at++
    return isNegated ? allBut(ranges) : ranges
  }

  #member(): readonly CharacterRange[] {
    const char = this.#chars[this.#at++]
    if (char === undefined) throw new Error('not closed')
    if (char !== '\\') return [between(char)]
    if (this.#chars[this.#at] === 'b') throw new Error('not understood')
    return this.#escape()
  }
}
