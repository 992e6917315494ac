import type { Binding } from '../bindings/binding.ts'
import { distinctnessOf } from '../bindings/distinctness.ts'

/** What the tape calls the things that the live server has other names for. */
export class RecordedValueNames {
  readonly #recorded = new Map<string, string>()
  /** How long the live names are, the longest first. */
  #lengths: readonly number[] = []

  /** Only names that nobody makes up twice are looked for in a text: a small number may as well be a count. */
  learn({ value, producer }: Binding, live: string): void {
    if (producer.kind !== 'message' || live === value || distinctnessOf(live) !== 'strong') return
    this.#recorded.set(live, value)
    if (!this.#lengths.includes(live.length))
      this.#lengths = [...this.#lengths, live.length].toSorted((a, b) => b - a)
  }

  /** A live text with the names that the tape has for things. */
  restore(text: string): string {
    if (this.#recorded.size === 0) return text
    const parts: string[] = []
    let copied = 0
    for (let at = 0; at < text.length; at++) {
      const live = this.#nameAt(text, at)
      if (live === undefined) continue
      parts.push(text.slice(copied, at), this.#recorded.get(live) ?? live)
      copied = at + live.length
      at = copied - 1
    }
    return copied === 0 ? text : parts.join('') + text.slice(copied)
  }

  // Longest first, and only whole words: `12` is not a part of `2012`.
  #nameAt(text: string, start: number): string | undefined {
    if (isInWord(text, start)) return undefined
    for (const length of this.#lengths) {
      const name = text.slice(start, start + length)
      if (this.#recorded.has(name) && !isWordlike(text, start + length)) return name
    }
    return undefined
  }
}

function isInWord(text: string, at: number): boolean {
  return at > 0 && WORDLIKE_END.test(text.slice(Math.max(0, at - 2), at))
}

function isWordlike(text: string, at: number): boolean {
  return at < text.length && WORDLIKE_START.test(text.slice(at, at + 2))
}

const WORDLIKE_END = /[\p{L}\p{N}]$/u
const WORDLIKE_START = /^[\p{L}\p{N}]/u
