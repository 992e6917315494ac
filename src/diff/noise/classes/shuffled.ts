import { proseTokens } from '../../formats/prose.ts'
import { areStrings, type ClassContext, type ClassKind, type ValueClass } from './value-class.ts'

/** Texts whose lines come in random order. Each line has a class of its own. */
export const shuffledLines: ClassKind = {
  name: 'lines in any order',
  infer: (values, inferPart) => {
    if (!areStrings(values)) return undefined
    const [first = [], ...others] = values.map((value) => value.split('\n'))
    if (first.length < 2 || first.length > MOST_PARTS) return undefined
    const paired = others.map((lines) => pairLines(first, lines))
    if (!paired.every((lines) => lines !== undefined)) return undefined
    if (paired.every((lines) => lines.every(({ at }, nth) => at === nth))) return undefined
    return linesClass(
      first.map((line, nth) => inferPart([line, ...paired.map((lines) => lines[nth]?.line ?? '')])),
    )
  },
  read: (written) => linesClass(written.parts('lines')),
}

/** Lines of text that always have the same words, in random order. */
export const shuffledWords: ClassKind = {
  name: 'words in any order',
  infer: (values) => {
    if (!areStrings(values) || values.some((value) => value.includes('\n'))) return undefined
    const [first, ...others] = values.map(sortedWords)
    if (first === undefined || first.length < 3 || first.length > MOST_PARTS) return undefined
    return others.every((words) => words.join('\0') === first.join('\0')) ? wordsClass(first) : undefined
  },
  read: (written) => wordsClass(written.texts('words')),
}

/** Texts with another number of lines each time, all of which look alike, such as the end of a log. */
export const similarLines: ClassKind = {
  name: 'similar lines',
  infer: (values, inferPart) => {
    if (!areStrings(values)) return undefined
    const texts = values.map(linesOf)
    const counts = texts.map(({ length }) => length)
    const all = texts.flat()
    const [least, most] = [Math.min(...counts), Math.max(...counts)]
    if (least === most || all.length < FEWEST_LINES || all.length > MOST_PARTS * values.length)
      return undefined
    if (new Set(all).size < all.length / 2) return undefined // lines that come again are not one random line
    const line = inferPart(all)
    return UNLIKE.has(line.written.is) ? undefined : similarLinesClass(line, least, most)
  },
  read: (written) =>
    similarLinesClass(written.part('line'), written.number('fewest'), written.number('most')),
}

const FEWEST_LINES = 4
/** These classes say too little about a line. */
const UNLIKE: ReadonlySet<string> = new Set(['any text', 'nothing', 'constant', 'choice'])

function similarLinesClass(line: ValueClass, fewest: number, most: number): ValueClass {
  return {
    text: `lines of ${line.text}`,
    written: { is: similarLines.name, line: line.written, fewest, most },
    accepts: (value, context) => {
      if (typeof value !== 'string') return false
      const lines = linesOf(value)
      if (lines.length < Math.min(fewest, 1) || lines.length > most * 3 + 3) return false
      return lines.every((one) => line.accepts(one, context))
    },
  }
}

/** A break at the end of a text does not begin another line. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

const MOST_PARTS = 400

interface PairedLine {
  readonly at: number
  readonly line: string
}

/** Finds the counterpart of each line: an equal one, or else the one with the most words in common. Returns `undefined` if a line has none. */
function pairLines(ours: readonly string[], theirs: readonly string[]): readonly PairedLine[] | undefined {
  if (ours.length !== theirs.length) return undefined
  const free = new Map<string, number[]>()
  for (const [at, line] of theirs.entries()) free.set(line, [...(free.get(line) ?? []), at])
  const pairs = ours.map((line): PairedLine | undefined => {
    const at = free.get(line)?.shift()
    return at === undefined ? undefined : { at, line }
  })
  const left = new Set([...free.values()].flat())
  for (const [nth, line] of ours.entries()) {
    if (pairs[nth] !== undefined) continue
    const [best] = Array.from(left, (at) => ({ at, score: sharedWords(line, theirs[at] ?? '') })).toSorted(
      (one, other) => other.score - one.score || Math.abs(one.at - nth) - Math.abs(other.at - nth),
    )
    if (best === undefined || best.score < LEAST_SHARED) return undefined
    left.delete(best.at)
    pairs[nth] = { at: best.at, line: theirs[best.at] ?? '' }
  }
  return pairs.filter((pair) => pair !== undefined)
}

const LEAST_SHARED = 0.5

/** The share of words that two lines have in common, from 0 to 1. */
function sharedWords(one: string, other: string): number {
  const [ours, theirs] = [sortedWords(one), sortedWords(other)]
  const left = new Map<string, number>()
  for (const word of theirs) left.set(word, (left.get(word) ?? 0) + 1)
  let shared = 0
  for (const word of ours) {
    const count = left.get(word) ?? 0
    if (count > 0) shared++
    left.set(word, count - 1)
  }
  return (2 * shared) / Math.max(1, ours.length + theirs.length)
}

function sortedWords(text: string): readonly string[] {
  return proseTokens(text)
    .filter((token) => token.trim() !== '')
    .toSorted()
}

function linesClass(classes: readonly ValueClass[]): ValueClass {
  const inOrder = [...classes.filter(isFixed), ...classes.filter((one) => !isFixed(one))]
  return {
    text: `${classes.length} lines in any order`,
    written: { is: shuffledLines.name, lines: classes.map(({ written }) => written) },
    accepts: (value, context) => typeof value === 'string' && fitLines(value.split('\n'), inOrder, context),
  }
}

function isFixed({ written }: ValueClass): boolean {
  return written.is === 'constant'
}

function fitLines(lines: readonly string[], classes: readonly ValueClass[], context: ClassContext): boolean {
  if (lines.length !== classes.length) return false
  const left = new Set(lines.keys())
  return classes.every((one) => {
    const at = [...left].find((index) => one.accepts(lines[index], context))
    return at !== undefined && left.delete(at)
  })
}

function wordsClass(words: readonly string[]): ValueClass {
  return {
    text: `${words.length} words in any order`,
    written: { is: shuffledWords.name, words },
    accepts: (value) => typeof value === 'string' && sortedWords(value).join('\0') === words.join('\0'),
  }
}
