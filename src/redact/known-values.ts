import { ValueFingerprints, WINDOW_LENGTH } from './prefilter/fingerprints.ts'
import type { WorkLimit } from './work-limit.ts'

interface KnownValuesOptions {
  /** How many values are kept as they are. Of later ones, a fingerprint is kept. Default: all are kept. */
  readonly maxKept?: number
  /** For the fingerprints. */
  readonly seed?: () => number
}

/** Values that are replaced wherever they occur. They are kept in a tree, in which values with the same beginning share a branch. */
export class KnownValues {
  readonly #maxKept: number
  readonly #seed: () => number
  readonly #values = new Set<string>()
  readonly #roots = new Map<number, ValueNode>()
  /** For each pair of characters, by hash: whether a value begins with it. */
  readonly #beginnings = new Uint8Array(1 << HASH_BITS)
  #fingerprints: ValueFingerprints | undefined
  #added = 0
  #keptCharacters = 0

  constructor({ maxKept = Infinity, seed = () => 0 }: KnownValuesOptions = {}) {
    this.#maxKept = maxKept
    this.#seed = seed
  }

  /** Number of values that were added. */
  get size(): number {
    return this.#added
  }

  /** The values that are kept as they are. */
  get kept(): readonly string[] {
    return [...this.#values]
  }

  has(value: string): boolean {
    if (this.#values.has(value)) return true
    return value.length >= WINDOW_LENGTH && this.#fingerprints?.has(value) === true
  }

  /** Returns true if the next value is kept as it is. */
  keeps(value: string): boolean {
    if (value.length < WINDOW_LENGTH || this.#maxKept === Infinity) return true
    return this.#values.size < this.#maxKept && this.#keptCharacters + value.length <= MAX_KEPT_CHARACTERS
  }

  /** The value is new, and has at least two characters. */
  add(value: string): void {
    if (this.keeps(value)) {
      this.#beginnings[pairHash(value, 0)] = 1
      this.#values.add(value)
      this.#keptCharacters += value.length
      insertValue(this.#roots, value)
      this.#added++
    } else if ((this.#fingerprints ??= new ValueFingerprints(this.#seed())).add(value)) this.#added++
  }

  /** Builds the tree again, after a search that may have been interrupted while it changed the tree. */
  rebuild(): void {
    this.#roots.clear()
    for (const value of this.#values) insertValue(this.#roots, value)
  }

  /** Finds the values in a text. Where several that are kept begin, the longest one counts. */
  find(text: string, work?: WorkLimit): readonly { readonly start: number; readonly end: number }[] {
    const found: { readonly start: number; readonly end: number }[] = [
      ...(this.#fingerprints?.find(text, work) ?? []),
    ]
    if (this.#values.size === 0) return found
    for (let at = 0; at + 1 < text.length;) {
      const length =
        this.#beginnings[pairHash(text, at)] === 1 ? longestValueAt(this.#roots, text, at, work) : 0
      if (length > 0) found.push({ start: at, end: at + length })
      at += length || 1
    }
    return found
  }
}

/** A branch: the characters that lead to it, and where it goes on. */
interface ValueNode {
  label: string
  isValue: boolean
  branches: Map<number, ValueNode> | undefined
}

/**
 * Copies a part of a text. A part that is kept as it is keeps the memory of the whole text: one secret of a message of a megabyte
 * needs a megabyte.
 */
export function ownCopy(part: string): string {
  return JSON.parse(JSON.stringify(part)) as string
}

/** Limits the memory for long values, if not all values are kept. */
export const MAX_KEPT_CHARACTERS = 4_000_000
const HASH_BITS = 16
const MIN_COUNTED_LABEL = 64
/** Comparing is that much faster than searching with rules. */
const LABEL_CHARACTERS_PER_WORK = 16

function pairHash(text: string, at: number): number {
  return (text.charCodeAt(at) * 257 + text.charCodeAt(at + 1)) & ((1 << HASH_BITS) - 1)
}

function insertValue(roots: Map<number, ValueNode>, value: string): void {
  let branches = roots
  let rest = value
  for (;;) {
    const node = branches.get(rest.charCodeAt(0))
    if (node === undefined) {
      branches.set(rest.charCodeAt(0), { label: rest, isValue: true, branches: undefined })
      return
    }
    const shared = sharedLength(node.label, rest)
    if (shared < node.label.length) splitNode(node, shared)
    if (shared === rest.length) {
      node.isValue = true
      return
    }
    rest = rest.slice(shared)
    branches = node.branches ??= new Map()
  }
}

function sharedLength(one: string, other: string): number {
  const end = Math.min(one.length, other.length)
  let at = 0
  while (at < end && one.charCodeAt(at) === other.charCodeAt(at)) at++
  return at
}

/** Cuts a node in two, so that another value can branch off. */
function splitNode(node: ValueNode, at: number): void {
  const { label, isValue, branches } = node
  node.branches = new Map([[label.charCodeAt(at), { label: label.slice(at), isValue, branches }]])
  node.label = label.slice(0, at)
  node.isValue = false
}

/** Length of the longest value at an offset, or 0. */
function longestValueAt(
  roots: Map<number, ValueNode>,
  text: string,
  start: number,
  work: WorkLimit | undefined,
): number {
  let longest = 0
  let at = start
  for (let node = roots.get(text.charCodeAt(at)); node !== undefined;) {
    const { label } = node
    // A hostile text can begin with most of a long value at every offset, so only comparisons that may take long are counted.
    if (label.length > MIN_COUNTED_LABEL) {
      if (label.charCodeAt(label.length - 1) !== text.charCodeAt(at + label.length - 1)) break
      if (!text.startsWith(label.slice(0, MIN_COUNTED_LABEL), at)) break
      work?.spend(label.length / LABEL_CHARACTERS_PER_WORK)
    }
    if (!text.startsWith(label, at)) break
    at += label.length
    if (node.isValue) longest = at - start
    node = node.branches?.get(text.charCodeAt(at))
  }
  return longest
}
