/**
 * Finds out whether a regular expression can take exponential time, and returns the reason, or `undefined`. It looks for a repeated
 * group that can match the same text in several ways, such as `(a+)+` or `(\w|\d)*`. Some slow patterns are not found.
 */
export function whyPatternIsSlow(pattern: RegExp): string | undefined {
  const flags = pattern.flags.replaceAll(/[^isuv]/g, '')
  return new PatternParser(pattern.source)
    .parse()
    .reduce<string | undefined>(
      (found, group) => found ?? whyGroupIsSlow(group, (units) => charactersOf(units, flags)),
      undefined,
    )
}

/** Characters, or a group, and how often they occur. */
interface PatternUnit {
  /** Sources of single characters and classes: those in the group, or one. */
  readonly atoms: readonly string[]
  /** The alternatives of a group. */
  readonly alternatives?: readonly PatternSequence[]
  readonly least: number
  readonly most: number
  readonly source: string
}

type PatternSequence = readonly PatternUnit[]
type CharactersOf = (atoms: readonly string[]) => ReadonlySet<string>

function whyGroupIsSlow(group: PatternUnit, charactersIn: CharactersOf): string | undefined {
  const { alternatives = [], most, source } = group
  if (most < MANY) return undefined
  const ways = alternatives.flatMap(expandSequence)
  const overlap = (one: PatternUnit, other: PatternUnit): boolean => {
    const characters = charactersIn(one.atoms)
    return [...charactersIn(other.atoms)].some((character) => characters.has(character))
  }
  for (const way of ways) {
    const isAmbiguous = (unit: PatternUnit): boolean =>
      unit.least !== unit.most &&
      way.every((other) => other === unit || other.least === 0 || overlap(unit, other))
    const inner = way.find(isAmbiguous)
    if (inner !== undefined)
      return `${source} repeats ${inner.source}, which repeats too, and nothing separates the repetitions`
  }
  const areSame = (one: PatternSequence, other: PatternSequence): boolean => {
    const length = Math.min(one.length, other.length)
    return one.slice(0, length).every((unit, at) => overlap(unit, other[at]!))
  }
  const isTwice = ways.some((one, at) => ways.slice(at + 1).some((other) => areSame(one, other)))
  return isTwice ? `two alternatives of ${source}, which repeats, can match the same text` : undefined
}

/** A group that repeats less often is harmless. */
const MANY = 10

/** Replaces groups that occur once by their content: one sequence for each choice of alternatives. */
function expandSequence(sequence: PatternSequence): readonly PatternSequence[] {
  let ways: readonly PatternSequence[] = [[]]
  for (const unit of sequence) {
    const isOnce = unit.alternatives !== undefined && unit.least === 1 && unit.most === 1
    const choices = isOnce ? unit.alternatives.flatMap(expandSequence) : [[unit]]
    ways = ways.flatMap((way) => choices.map((choice) => [...way, ...choice])).slice(0, MAX_WAYS)
  }
  return ways
}

const MAX_WAYS = 64

/** Samples of all characters that one of the atoms matches. */
function charactersOf(atoms: readonly string[], flags: string): ReadonlySet<string> {
  const found = new Set<string>()
  for (const atom of atoms) {
    const single = new RegExp(`^(?:${atom})$`, flags)
    for (const character of SAMPLES) if (single.test(character)) found.add(character)
  }
  return found
}

const SAMPLES = [
  ...Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)),
  'ж',
  '日',
  '\u2028',
  '😀',
]

/** Splits the source of a valid regular expression into units. */
class PatternParser {
  readonly #source: string
  readonly #groups: PatternUnit[] = []
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** Returns all groups, inner ones first. */
  parse(): readonly PatternUnit[] {
    this.#alternatives()
    return this.#groups
  }

  #alternatives(): readonly PatternSequence[] {
    const all: PatternUnit[][] = [[]]
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#take(/\|/y) !== '') all.push([])
      else this.#unit(all.at(-1)!)
    }
    return all
  }

  #unit(sequence: PatternUnit[]): void {
    const start = this.#at
    if (this.#take(/\^|\$|\\[bB]/y) !== '') return
    const opening = this.#take(/\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/y)
    const alternatives = opening === '' ? undefined : this.#alternatives()
    if (opening !== '') this.#take(/\)/y)
    const atom = opening === '' ? this.#take(ATOM) : ''
    const [least, most] = occurrences(this.#take(/[*+?]\??|\{\d+(?:,\d*)?\}\??/y))
    if (/[=!]$/.test(opening)) return // a look-around consumes nothing
    const source = this.#source.slice(start, this.#at)
    if (alternatives === undefined) return void sequence.push({ atoms: atomsOf(atom), least, most, source })
    const atoms = alternatives.flat().flatMap((unit) => unit.atoms)
    const group = { atoms, alternatives, least, most, source }
    this.#groups.push(group)
    sequence.push(group)
  }

  #take(what: RegExp): string {
    what.lastIndex = this.#at
    const [found = ''] = what.exec(this.#source) ?? []
    this.#at += found.length
    return found
  }
}

/** A class, an escape, or any other character. */
const ATOM =
  /\[(?:\\[\s\S]|[^\]\\])*\]|\\(?:u\{[0-9A-Fa-f]+\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|[pP]\{[^}]*\}|k<[^>]*>|\d+|[\s\S])|[\s\S]/y

/** What a back reference matches is not known here. */
function atomsOf(atom: string): readonly string[] {
  return /^\\(?:k<|[1-9])/.test(atom) ? [] : [atom]
}

/** The least and the most occurrences. */
function occurrences(quantifier: string): readonly [number, number] {
  const [, least, comma, most] = /^\{(\d+)(,?)(\d*)/.exec(quantifier) ?? []
  if (least !== undefined) return [Number(least), comma === '' ? Number(least) : Number(most || Infinity)]
  if (quantifier === '') return [1, 1]
  return [quantifier.startsWith('+') ? 1 : 0, quantifier.startsWith('?') ? 1 : Infinity]
}
