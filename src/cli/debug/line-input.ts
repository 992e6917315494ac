import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { isatty } from 'node:tty'

interface LineInputOptions {
  readonly prompt: string
  /** Returns the words that can follow, and the part of the line that they replace. */
  readonly complete: (line: string) => readonly [words: readonly string[], typed: string]
  /** Called for Ctrl+C. */
  readonly onInterrupt: () => void
  /** The file with the lines of earlier sessions, which only the user can read. */
  readonly historyFile: string
  /** Replaces secrets in a line before it is kept. */
  readonly redact: (line: string) => string
}

/** Commands from a terminal, with line editing, history and completion, or from a pipe, one line each. */
export class LineInput {
  /** False if the commands come from a pipe or a file. */
  readonly isTerminal: boolean
  readonly #options: LineInputOptions
  readonly #lines: string[] = []
  #reader: Interface
  #history: string[] = []
  #isEnded = false
  #isSuspended = false
  #wake: () => void = () => {}

  constructor(options: LineInputOptions) {
    this.isTerminal = isatty(0) && isatty(1)
    this.#options = options
    if (this.isTerminal) this.#history = readHistory(options.historyFile)
    this.#reader = this.#open()
  }

  /** Shows the prompt at a terminal. */
  prompt(): void {
    if (this.isTerminal) this.#reader.prompt(true)
  }

  /** The next line; `undefined` at the end of the input. */
  async next(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#isEnded)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.#lines.shift()
  }

  /** True if a line, or the end of the input, waits to be read. */
  get hasLine(): boolean {
    return this.#lines.length > 0 || this.#isEnded
  }

  /** Resolves when a line, or the end of the input, waits to be read. */
  async waitForLine(): Promise<void> {
    while (!this.hasLine) await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  /** Gives the terminal to another program, such as an editor. */
  async suspend<Result>(run: () => Promise<Result>): Promise<Result> {
    if (!this.isTerminal) return run()
    this.#isSuspended = true
    this.#reader.close()
    try {
      return await run()
    } finally {
      this.#isSuspended = false
      this.#reader = this.#open()
    }
  }

  close(): void {
    this.#isSuspended = true
    this.#reader.close()
    process.stdin.unref?.()
    process.stdin.pause()
  }

  /** A session goes on if its history cannot be written. */
  #keep(line: string): void {
    const { historyFile, redact } = this.#options
    try {
      mkdirSync(dirname(historyFile), { recursive: true, mode: 0o700 })
      appendFileSync(historyFile, `${redact(line)}\n`, { mode: 0o600 })
    } catch {
      // it is kept in memory
    }
  }

  #open(): Interface {
    const { prompt, complete, onInterrupt } = this.#options
    const reader = createInterface({
      input: process.stdin,
      terminal: this.isTerminal,
      prompt,
      historySize: HISTORY_SIZE,
      removeHistoryDuplicates: true,
      history: [...this.#history],
      ...(this.isTerminal && { output: process.stdout }),
      completer: (line: string) => complete(line),
    })
    reader.on('line', (line) => {
      this.#lines.push(line)
      this.#wake()
    })
    reader.on('history', (history: string[]) => {
      const [line] = history
      if (line !== undefined && line !== this.#history[0]) this.#keep(line)
      this.#history = [...history]
    })
    reader.on('SIGINT', () => {
      if (reader.line === '') return onInterrupt()
      process.stdout.write('^C\n')
      reader.write(null, { ctrl: true, name: 'u' })
      reader.prompt()
    })
    reader.on('close', () => {
      if (this.#isSuspended) return
      this.#isEnded = true
      this.#wake()
    })
    return reader
  }
}

const HISTORY_SIZE = 1000

/** The lines of earlier sessions, the last one first. A long file is shortened. */
function readHistory(file: string): string[] {
  try {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
    const kept = lines.slice(-HISTORY_SIZE)
    if (lines.length > 2 * HISTORY_SIZE) writeFileSync(file, `${kept.join('\n')}\n`, { mode: 0o600 })
    return kept.toReversed()
  } catch {
    return [] // there is none yet
  }
}
