import { escapeControlChars } from '../text.ts'
import type { TruncatedLines } from './inspect/notes.ts'

/** The first lines of what a process wrote to stderr, and how many there are. Its chunks are cut anywhere. */
export class StderrPreview {
  readonly #most: number
  #head = ''
  #breaks = 0
  #isAtBreak = false

  constructor(most: number) {
    this.#most = most
  }

  add(text: string): void {
    if (text === '') return
    if (this.#breaks < this.#most) this.#head += text
    this.#breaks += text.split('\n').length - 1
    this.#isAtBreak = text.endsWith('\n')
  }

  lines(): TruncatedLines {
    const lines = this.#head
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .slice(0, this.#most)
    return { lines: lines.map(escapeControlChars), count: this.#breaks + (this.#isAtBreak ? 0 : 1) }
  }
}
