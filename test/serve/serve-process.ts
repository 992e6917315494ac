import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const MAIN: string = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly lines: readonly string[]
  readonly stderr: string
}

/** `reelay serve` as a client would start it. */
export class ServeProcess {
  readonly child: ChildProcessWithoutNullStreams
  readonly #lines: string[] = []
  readonly #stderr: Promise<string>
  readonly #closed: Promise<unknown[]>
  #waiting: { readonly count: number; readonly resolve: () => void } | undefined

  constructor(args: readonly string[], nodeArgs: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
    this.child = spawn(process.execPath, [...nodeArgs, MAIN, 'serve', ...args], {
      stdio: 'pipe',
      env: { ...process.env, ...env },
    })
    onTestFinished(() => void this.child.kill('SIGKILL'))
    // A run that ended does not read what is still said to it.
    this.child.stdin.on('error', () => {})
    this.#stderr = text(this.child.stderr)
    this.#closed = once(this.child, 'close')
    createInterface({ input: this.child.stdout }).on('line', (line) => this.#take(line))
  }

  say(...messages: readonly object[]): void {
    for (const message of messages) this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  write(chunk: string | Uint8Array): void {
    this.child.stdin.write(chunk)
  }

  /** Waits until that many lines came in all. */
  async heard(count: number): Promise<readonly string[]> {
    if (this.#lines.length < count)
      await new Promise<void>((resolve) => {
        this.#waiting = { count, resolve }
      })
    return this.#lines
  }

  /** Waits until a line holds this text; the lines up to it are returned. */
  async heardText(words: string): Promise<readonly string[]> {
    const place = (): number => this.#lines.findIndex((line) => line.includes(words))
    while (place() < 0) await this.heard(this.#lines.length + 1)
    return this.#lines.slice(0, place() + 1)
  }

  /** Ends the input and waits for the end. */
  async end(): Promise<Ended> {
    this.child.stdin.end()
    return this.ended()
  }

  async ended(): Promise<Ended> {
    await this.#closed
    return { code: this.child.exitCode, lines: this.#lines, stderr: await this.#stderr }
  }

  #take(line: string): void {
    this.#lines.push(line)
    if (this.#waiting !== undefined && this.#lines.length >= this.#waiting.count) this.#waiting.resolve()
  }
}
