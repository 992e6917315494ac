import { isGeneratedName, isTextOrNumber, type Difference } from '../diff/difference.ts'
import { isObject } from '../json/parse.ts'

/**
 * Values that differ between two tapes only because each server generated its own, such as ids. A value is carried if it differs in a
 * response, and the client sent back the value of its own session in both: then the difference means nothing.
 */
export class CarriedRenames {
  /** Values of the later tape by those of the earlier one, in responses and in requests. */
  readonly #inResponses = new Map<string, string>()
  readonly #inRequests = new Map<string, string>()

  learnResponse(differences: readonly Difference[]): void {
    for (const difference of differences) learn(difference, this.#inResponses)
  }

  learnRequest(differences: readonly Difference[]): void {
    for (const difference of differences) learn(difference, this.#inRequests)
  }

  get size(): number {
    return this.#inResponses.size
  }

  /** Returns params of the earlier tape with the values that the later server sent in place of the earlier ones. */
  renamed = (value: unknown): unknown => {
    if (typeof value === 'string') return this.#renamedText(value)
    if (typeof value === 'number') {
      const other = this.#inResponses.get(String(value))
      return other === undefined || Number.isNaN(Number(other)) ? value : Number(other)
    }
    if (Array.isArray(value)) return value.map(this.renamed)
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, this.renamed(inside)]))
  }

  #renamedText(text: string): string {
    return this.#inResponses.get(text) ?? replaceWords(text, (word) => this.#inResponses.get(word))
  }

  /** Returns true if two values are the same carried value, or texts that differ only in carried values. */
  isCarried = (expected: unknown, actual: unknown): boolean => {
    if (!isTextOrNumber(expected) || !isTextOrNumber(actual)) return false
    const [then, now] = [String(expected), String(actual)]
    if (this.#carried(then) === now) return true
    return typeof expected === 'string' && replaceWords(then, (word) => this.#carried(word)) === now
  }

  #carried(value: string): string | undefined {
    const sent = this.#inRequests.get(value)
    return sent !== undefined && sent === this.#inResponses.get(value) ? sent : undefined
  }
}

/** A tape from a stranger must not fill the memory. */
const MOST_RENAMES = 200_000

function learn({ kind, expected, actual, parts }: Difference, renames: Map<string, string>): void {
  if ((kind !== 'changed' && kind !== 'renamed') || renames.size > MOST_RENAMES) return
  if (!isTextOrNumber(expected) || !isTextOrNumber(actual)) return
  if (parts !== undefined) for (const part of parts) learnWords(part.expected, part.actual, renames)
  learnWords(String(expected), String(actual), renames)
  if (canBeCarried(expected) && canBeCarried(actual)) add(renames, String(expected), String(actual))
}

/** Learns the words of two texts that are otherwise alike. */
function learnWords(then: string, now: string, renames: Map<string, string>): void {
  if (then.length > LONGEST_TEXT || now.length > LONGEST_TEXT) return
  const [ours, theirs] = [then.match(WORD) ?? [], now.match(WORD) ?? []]
  if (ours.length !== theirs.length) return
  for (const [at, word] of ours.entries()) {
    const other = theirs[at]
    if (other !== undefined && other !== word && isGeneratedName(word) && isGeneratedName(other))
      add(renames, word, other)
  }
}

function add(renames: Map<string, string>, from: string, to: string): void {
  if (!renames.has(from)) renames.set(from, to)
}

const LONGEST_TEXT = 20_000
const WORD = /[\w-]+/g

/** Short numbers and words are equal by chance too often. */
function canBeCarried(value: string | number): boolean {
  const text = String(value)
  return typeof value === 'number' ? text.length >= 4 : text.length >= 3 && text.length <= 512
}

function replaceWords(text: string, replacement: (word: string) => string | undefined): string {
  return text.length > LONGEST_TEXT ? text : text.replace(WORD, (word) => replacement(word) ?? word)
}
