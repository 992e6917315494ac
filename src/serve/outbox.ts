import { once } from 'node:events'
import type { Writable } from 'node:stream'

const FLUSH_BYTES = 64 * 1024

/** Lines on their way out: those of one moment leave in one write, and a slow reader is waited for. */
export class OutputQueue {
  readonly #output: Writable
  #lines = ''

  constructor(output: Writable) {
    this.#output = output
  }

  add(line: string): void {
    if (this.#lines === '') queueMicrotask(() => this.#flush())
    this.#lines += `${line}\n`
    if (this.#lines.length >= FLUSH_BYTES) this.#flush()
  }

  /** Whether the reader is behind. */
  get isFull(): boolean {
    return this.#output.writableNeedDrain
  }

  /** Waits until the reader has caught up, or is gone. */
  async drained(): Promise<void> {
    // A reader that goes away is no failure here: the end of its input says the same.
    if (this.isFull && !this.#output.destroyed) await once(this.#output, 'drain').catch(() => {})
  }

  /** Waits until everything is handed over. */
  async flushed(): Promise<void> {
    this.#flush()
    if (this.#output.destroyed) return
    await new Promise<void>((resolve) => this.#output.write('', () => resolve()))
  }

  #flush(): void {
    const lines = this.#lines
    this.#lines = ''
    if (lines !== '' && !this.#output.destroyed) this.#output.write(lines)
  }
}
