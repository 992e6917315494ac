import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import {
  idKey,
  classifyMessage,
  type Notification,
  type Request,
  type Response,
} from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'

export type DemoOutcome = Response['outcome']

interface DemoPeerOptions {
  readonly input: Readable
  readonly output: Writable
  /** The id of the first request that this side sends. */
  readonly firstId?: number
  readonly onRequest: (request: Request) => DemoOutcome | Promise<DemoOutcome>
  readonly onNotification: (notification: Notification) => void
}

/** One side of a JSON-RPC connection over lines. Both the demo's client and its server use it. */
export class DemoPeer {
  readonly #options: DemoPeerOptions
  readonly #pending = new Map<string, (outcome: DemoOutcome | undefined) => void>()
  #nextId: number
  #isClosed = false

  constructor(options: DemoPeerOptions) {
    this.#options = options
    this.#nextId = options.firstId ?? 0
    // A write to a peer that has just exited fails; the closing input reports that it is gone.
    options.output.on('error', () => {})
    createInterface({ input: options.input })
      .on('line', (line) => this.#receive(line))
      .on('close', () => this.#settleAll())
  }

  /** Sends a request. Resolves to `undefined` if the other side exits without a response. */
  request(method: string, params: unknown): Promise<DemoOutcome | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined)
    const id = this.#nextId++
    return new Promise((resolve) => {
      this.#pending.set(idKey(id), resolve)
      this.#send({ jsonrpc: '2.0', id, method, params })
    })
  }

  notify(method: string, params?: unknown): void {
    this.#send({ jsonrpc: '2.0', method, params })
  }

  #receive(line: string): void {
    const message = classifyMessage(parseJson(line))
    if (message.kind === 'request') void this.#answer(message)
    else if (message.kind === 'notification') this.#options.onNotification(message)
    else if (message.kind === 'response') this.#settle(message)
  }

  async #answer(request: Request): Promise<void> {
    const outcome = await this.#options.onRequest(request)
    this.#send({ jsonrpc: '2.0', id: request.id, ...outcome })
  }

  #settle({ id, outcome }: Response): void {
    if (id === null) return
    this.#pending.get(idKey(id))?.(outcome)
    this.#pending.delete(idKey(id))
  }

  #settleAll(): void {
    this.#isClosed = true
    for (const settle of this.#pending.values()) settle(undefined)
    this.#pending.clear()
  }

  #send(message: object): void {
    this.#options.output.write(`${JSON.stringify(message)}\n`)
  }
}
