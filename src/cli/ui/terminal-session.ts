import { spawn } from 'node:child_process'
import { requireTerminal } from '../output/terminal.ts'
import { withoutColors } from './screen.ts'

/** A key by its name: `up`, `enter`, `ctrl+c`, or the character that was typed. */
export type Key = string

interface TerminalSessionOptions {
  readonly onKey: (key: Key) => void
  /** Returns the lines of the screen, encoded for the width. */
  readonly draw: (size: { readonly columns: number; readonly rows: number }) => readonly string[]
}

const ENTER_SCREEN = '\u001B[?1049h\u001B[?25l'
const LEAVE_SCREEN = '\u001B[?25h\u001B[?1049l'

/** The whole screen of a terminal, with its keys. The terminal is restored however the process ends. */
export class TerminalSession {
  readonly #options: TerminalSessionOptions
  #shown: readonly string[] = []
  #isOpen = false
  #isDrawScheduled = false

  constructor(options: TerminalSessionOptions) {
    requireTerminal({ needs: 'the terminal UI', instead: 'use reelay tail without --ui' })
    this.#options = options
    this.open()
    process.on('exit', this.close)
    process.stdout.on('resize', this.#onResize)
  }

  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#shown = []
    process.stdin.setRawMode(true)
    process.stdin.resume()
    process.stdin.setEncoding('utf8')
    process.stdin.on('data', this.#onData)
    process.stdout.write(ENTER_SCREEN)
    this.redraw()
  }

  /** Restores the terminal. May be called more than once. */
  readonly close = (): void => {
    if (!this.#isOpen) return
    this.#isOpen = false
    process.stdin.off('data', this.#onData)
    process.stdin.setRawMode(false)
    process.stdin.pause()
    process.stdout.write(LEAVE_SCREEN)
  }

  /** Draws in this round of the event loop, however often it is called. Only lines that have changed are written. */
  redraw(): void {
    if (this.#isDrawScheduled) return
    this.#isDrawScheduled = true
    setImmediate(() => {
      this.#isDrawScheduled = false
      if (this.#isOpen) this.#draw()
    })
  }

  /** Gives the terminal to another program, such as an editor, until it ends. Returns its exit code. */
  async lend(command: string): Promise<number> {
    this.close()
    try {
      return await new Promise((resolve) => {
        const child = spawn(command, { stdio: 'inherit', shell: true })
        child.once('error', () => resolve(1))
        child.once('exit', (code) => resolve(code ?? 1))
      })
    } finally {
      this.open()
    }
  }

  #draw(): void {
    const { columns, rows } = process.stdout
    const drawn = this.#options.draw({ columns, rows }).slice(0, rows)
    const lines = process.env['NO_COLOR'] ? drawn.map(withoutColors) : drawn
    const changed = lines.map((line, row) =>
      line === this.#shown[row] ? '' : `\u001B[${row + 1};1H${line}\u001B[K`,
    )
    this.#shown = lines
    process.stdout.write(changed.join(''))
  }

  readonly #onResize = (): void => {
    this.#shown = []
    process.stdout.write('\u001B[2J')
    this.redraw()
  }

  readonly #onData = (data: string): void => {
    for (const [sequence] of data.matchAll(KEYS)) this.#options.onKey(KEY_NAMES[sequence] ?? sequence)
    this.redraw()
  }
}

/** An escape sequence, or one character. */
// oxlint-disable-next-line no-control-regex -- these are the bytes that a terminal sends for keys
const KEYS = /\u001B(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])|[\s\S]/gu

const KEY_NAMES: Readonly<Record<string, Key>> = {
  '\u001B[A': 'up',
  '\u001B[B': 'down',
  '\u001B[C': 'right',
  '\u001B[D': 'left',
  '\u001BOA': 'up',
  '\u001BOB': 'down',
  '\u001B[5~': 'page-up',
  '\u001B[6~': 'page-down',
  '\u001B[H': 'home',
  '\u001B[F': 'end',
  '\u001B[1~': 'home',
  '\u001B[4~': 'end',
  '\u001B': 'escape',
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007F': 'backspace',
  '\b': 'backspace',
  '\u0003': 'ctrl+c',
  '\u0015': 'ctrl+u',
}
