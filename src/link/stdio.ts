import { isAscii } from 'node:buffer'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessFamily } from './process/process-family.ts'
import type { ClientLink, LinkHandlers, OpenLink } from './client-link.ts'
import {
  endServer,
  serverStartError,
  startServer,
  type ProcessExit,
  type ServerProcess,
} from './process/server-process.ts'
import { type Line, lineBytes, LineSplitter } from '../protocol/lines.ts'

export interface StdioLinkOptions {
  readonly command: readonly [string, ...string[]]
  readonly cwd?: string
  readonly env?: NodeJS.ProcessEnv
  /** Called with what the server writes to its stderr, which is dropped by default. */
  readonly onStderr?: (chunk: Uint8Array) => void
}

/** A link over the pipes of a server process that the link starts and ends. */
export function stdioLink(options: StdioLinkOptions): OpenLink {
  return async (handlers) => {
    const { command, cwd, env } = options
    const server = await startServer(command, { cwd, env })
    const { family } = server
    if (family === undefined) throw await serverStartError(server)
    return new StdioLink(server, family, options, handlers)
  }
}

class StdioLink implements ClientLink {
  readonly #server: ServerProcess
  readonly #family: ProcessFamily
  /** The lines of the current tick, which are written together. */
  #buffered = ''
  #closing: Promise<void> | undefined

  constructor(
    server: ServerProcess,
    family: ProcessFamily,
    options: StdioLinkOptions,
    handlers: LinkHandlers,
  ) {
    this.#server = server
    this.#family = family
    const splitter = new LineSplitter()
    const { stdin, stdout, stderr } = server.child
    stdin.on('error', () => {}) // the end of its output shows that the server is gone
    stdout.on('data', (chunk: Buffer) => {
      const encoding = isAscii(chunk) ? 'latin1' : 'utf8' // much faster for the many lines of a chunk
      for (const line of splitter.split(chunk))
        handlers.onText(isWhole(line) ? chunk.toString(encoding, line.start, line.end) : lineText(line))
    })
    stderr.on('data', (chunk: Buffer) => options.onStderr?.(chunk))
    stdout.once('close', () => {
      for (const line of splitter.end()) handlers.onText(lineText(line))
      void describeEnd(server).then((end) => handlers.onEnd(`the server ${end}`))
    })
  }

  send(text: string): void {
    // The next tick runs after all microtasks, so that everything they send is written together.
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
      family: this.#family,
      exited: this.#server.exited,
      isClientGone: () => true,
      isHurried,
    })
    this.#server.guard.dismiss()
  }
}

/** A server that keeps running after it closed its output cannot send anything more, so it is not waited for. */
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

/** A longer text is written at once, so that the server can work on it meanwhile. */
const FLUSH_LENGTH = 1500

function describeExit({ code, signal }: ProcessExit): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`
}

function isWhole({ parts, isOverlong }: Line): boolean {
  return parts.length === 0 && !isOverlong
}

function lineText(line: Line): string {
  const { buffer, byteOffset, length } = lineBytes(line)
  const text = Buffer.from(buffer, byteOffset, length).toString('utf8')
  return line.isOverlong ? `${text.slice(0, 200)}… (${line.length} bytes)` : text
}
