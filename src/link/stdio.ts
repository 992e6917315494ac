import { isAscii } from 'node:buffer'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientLink, LinkHandlers, OpenLink } from './client-link.ts'
import { endServer } from './process/end.ts'
import { serverStartError, startServer, type ProcessExit, type ServerProcess } from './process/start.ts'
import { type Line, lineBytes, LineSplitter } from '../protocol/lines.ts'

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

function isWhole({ parts, isOverlong }: Line): boolean {
  return parts.length === 0 && !isOverlong
}

function lineText(line: Line): string {
  const { buffer, byteOffset, length } = lineBytes(line)
  const text = Buffer.from(buffer, byteOffset, length).toString('utf8')
  return line.isOverlong ? `${text.slice(0, 200)}… (${line.length} bytes)` : text
}
