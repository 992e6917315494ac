import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { idKey } from '../protocol/id.ts'
import { classifyMessage, type Notification, type Request, type Response } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'

export type DemoOutcome = Response['outcome']

interface DemoPeerOptions {
  readonly input: Readable
  readonly output: Writable
  /** The first id that this side gives to a request of its own. */
  readonly firstId?: number
  readonly onRequest: (request: Request) => DemoOutcome | Promise<DemoOutcome>
  readonly onNotification: (notification: Notification) => void
}

/** One side of a JSON-RPC link over lines: the demo's client and its server are both one of these. */
export class DemoPeer {
  readonly #options: DemoPeerOptions
  readonly #pending = new Map<string, (outcome: DemoOutcome | undefined) => void>()
  #nextId: number
  #isClosed = false

  constructor(options: DemoPeerOptions) {
    this.#options = options
    this.#nextId = options.firstId ?? 0
    // Writing to a peer that has just left is no fault of ours: its absence shows when the input closes.
    options.output.on('error', () => {})
    createInterface({ input: options.input })
      .on('line', (line) => this.#receive(line))
      .on('close', () => this.#settleAll())
  }

  /** The answer, whatever it says; none when the other side left without one. */
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
