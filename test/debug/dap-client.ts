import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { REELAY } from '../support/recorder.ts'

/** Any message of the protocol. A test looks at what it needs. */
export interface DapMessage {
  readonly type: string
  readonly event?: string
  readonly command?: string
  readonly request_seq?: number
  readonly success?: boolean
  readonly message?: string
  // eslint-disable-next-line typescript/no-explicit-any -- tests read many shapes
  readonly body: any
}

/** A raw client of the Debug Adapter Protocol. */
export class DapClient {
  readonly messages: DapMessage[] = []
  readonly #output: Writable
  readonly #arrivals = new EventEmitter()
  #seq = 0
  #seen = 0
  #rest: Buffer = Buffer.alloc(0)

  constructor(input: Readable, output: Writable) {
    this.#output = output
    this.#arrivals.setMaxListeners(0)
    input.on('data', (chunk: Buffer) => this.#receive(chunk))
    output.on('error', () => {})
  }

  /** Sends a request and resolves with its response, also with a failed one. */
  async ask(command: string, given: object = {}): Promise<DapMessage> {
    const seq = ++this.#seq
    this.write({ seq, type: 'request', command, arguments: given })
    return this.#find(() => this.messages.find((one) => one.type === 'response' && one.request_seq === seq))
  }

  /** Sends a request and resolves with the body of its response. */
  async request(command: string, given: object = {}): Promise<DapMessage['body']> {
    const { success, message, body } = await this.ask(command, given)
    if (success !== true) throw new Error(`${command}: ${message}`)
    return body
  }

  /** The next event with this name that was not awaited before. */
  async event(name: string): Promise<DapMessage['body']> {
    const found = await this.#find(() => {
      const at = this.messages.findIndex((one, place) => place >= this.#seen && one.event === name)
      if (at < 0) return undefined
      this.#seen = at + 1
      return this.messages[at]
    })
    return found.body
  }

  write(message: object | string): void {
    const text = typeof message === 'string' ? message : JSON.stringify(message)
    this.#output.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }

  async #find(look: () => DapMessage | undefined): Promise<DapMessage> {
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      await once(this.#arrivals, 'message')
    }
  }

  #receive(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (;;) {
      const [head, length] =
        /^Content-Length: (\d+)\r\n\r\n/.exec(this.#rest.toString('latin1', 0, 100)) ?? []
      if (head === undefined || this.#rest.length < head.length + Number(length)) return
      const end = head.length + Number(length)
      this.messages.push(JSON.parse(this.#rest.toString('utf8', head.length, end)) as DapMessage)
      this.#rest = this.#rest.subarray(end)
      this.#arrivals.emit('message')
    }
  }
}

/** Starts `reelay dap` as an editor does. */
export function startAdapter(...args: readonly string[]): {
  readonly client: DapClient
  readonly child: ChildProcess
} {
  const child = spawn(process.execPath, [REELAY, 'dap', ...args], { stdio: ['pipe', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { client: new DapClient(child.stdout, child.stdin), child }
}
