import { visible } from '../wire/visible.ts'
import type { FirstLines } from './inspect-notes.ts'

/** The first lines of what a process wrote to stderr, and how many there are. Its chunks are cut anywhere. */
export class StderrHead {
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

  lines(): FirstLines {
    const lines = this.#head
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
      .slice(0, this.#most)
    return { lines: lines.map(visible), count: this.#breaks + (this.#isAtBreak ? 0 : 1) }
  }
}
