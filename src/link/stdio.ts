import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientLink, LinkHandlers, OpenLink } from './client-link.ts'
import { endServer } from './process/end.ts'
import { serverStartError, startServer, type ProcessExit, type ServerProcess } from './process/start.ts'
import { LineSplitter } from '../protocol/lines.ts'

export interface StdioLinkOptions {
  readonly command: readonly [string, ...string[]]
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** What the server writes to its stderr; by default it is dropped. */
  readonly onStderr?: (chunk: Uint8Array) => void
}

/** A link over the pipes of a server that is started for it, and ended with it. */
export function stdioLink(options: StdioLinkOptions): OpenLink {
  return async (handlers) => {
    const { command, cwd, env } = options
    const server = await startServer(command, { ...(cwd !== undefined && { cwd }), ...(env && { env }) })
    const { pid } = server
    if (pid === undefined) throw await serverStartError(server)
    return new StdioLink(server, pid, options, handlers)
  }
}

class StdioLink implements ClientLink {
  readonly #server: ServerProcess
  readonly #pid: number
  /** Lines of the current round: they leave in one write. */
  #buffered = ''
  #closing: Promise<void> | undefined

  constructor(server: ServerProcess, pid: number, options: StdioLinkOptions, handlers: LinkHandlers) {
    this.#server = server
    this.#pid = pid
    const lines = new TextLineSplitter({
      onLine: (line) => handlers.onText(line),
      onOverlong: (head, total) => handlers.onText(`${head.slice(0, 200)}… (${total} bytes)`),
    })
    const { stdin, stdout, stderr } = server.child
    stdin.on('error', () => {}) // the end of its output says that it is gone
    stdout.on('data', (chunk: Buffer) => lines.push(chunk))
    stderr.on('data', (chunk: Buffer) => options.onStderr?.(chunk))
    stdout.once('close', () => {
      lines.end()
      void describeEnd(server).then((end) => handlers.onEnd(`the server ${end}`))
    })
  }

  send(text: string): void {
    // A tick runs when all microtasks are done: what they send leaves together.
    if (this.#buffered === '') process.nextTick(() => this.#flush())
    this.#buffered += `${text}\n`
    if (this.#buffered.length > FLUSH_LENGTH) this.#flush()
  }

  close({ isHurried } = { isHurried: false }): Promise<void> {
    this.#closing ??= this.#end(isHurried)
    return this.#closing
  }

  #flush(): void {
    if (this.#buffered === '') return
    this.#server.child.stdin.write(this.#buffered)
    this.#buffered = ''
  }

  async #end(isHurried: boolean): Promise<void> {
    this.#flush()
    this.#server.child.stdin.end()
    await endServer({
      pid: this.#pid,
      exited: this.#server.exited,
      isClientGone: () => true,
      isHurried,
      isServerBusy: async () => false,
      lastOutputAt: () => 0,
      onSignal: () => {},
    })
    this.#server.guard.dismiss()
  }
}

/** A server that has closed its output and stays can say nothing more: it is not waited for. */
async function describeEnd({ exited }: ServerProcess): Promise<string> {
  const waiting = new AbortController()
  const stays = sleep(EXIT_GRACE_MS, 'closed its output', { signal: waiting.signal, ref: false }).catch(
    () => '',
  )
  const end = await Promise.race([exited.then(describeExit), stays])
  waiting.abort()
  return end
}

const EXIT_GRACE_MS = 1000

/** So many characters are not held back for more to come: the server works on them meanwhile. */
const FLUSH_LENGTH = 1500

function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`
}

export interface TextLineSplitterOptions {
  /** A line without its end; empty ones are not delivered. */
  readonly onLine: (line: string) => void
  /** A line that is too long to be held: its beginning and its real length. */
  readonly onOverlong: (head: string, total: number) => void
}

const LINE_FEED = 10

/** Cuts bytes into lines of text. Lines that stand whole in a chunk are decoded together, which takes a fraction of the time. */
export class TextLineSplitter {
  readonly #onLine: (line: string) => void
  /** For what is cut by the ends of chunks. */
  readonly #splitter: LineSplitter
  #isCut = false

  constructor({ onLine, onOverlong }: TextLineSplitterOptions) {
    this.#onLine = onLine
    this.#splitter = new LineSplitter({
      onLine: (line) => onLine(decodeBytes(line)),
      onOverlong: (head, total) => onOverlong(decodeBytes(head), total),
    })
  }

  push(chunk: Buffer): void {
    const last = chunk.lastIndexOf(LINE_FEED)
    if (last < 0) return this.#keep(chunk)
    const first = this.#isCut ? chunk.indexOf(LINE_FEED) + 1 : 0
    if (first > 0) this.#splitter.push(chunk.subarray(0, first))
    this.#isCut = false
    if (first <= last) this.#splitText(chunk.toString('utf8', first, last + 1))
    if (last + 1 < chunk.length) this.#keep(chunk.subarray(last + 1))
  }

  /** Delivers what stands after the last line feed. */
  end(): void {
    this.#splitter.end()
  }

  #keep(part: Buffer): void {
    this.#splitter.push(part)
    this.#isCut = true
  }

  #splitText(text: string): void {
    let start = 0
    for (let feed = text.indexOf('\n'); feed >= 0; feed = text.indexOf('\n', start)) {
      const end = text[feed - 1] === '\r' ? feed - 1 : feed
      if (end > start) this.#onLine(text.slice(start, end))
      start = feed + 1
    }
  }
}

function decodeBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
}
