import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { idKey } from '../wire/id.ts'
import { classify, type Notification, type Request, type Response } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

export type Outcome = Response['outcome']

export interface PeerOptions {
  readonly input: Readable
  readonly output: Writable
  /** The first id that this side gives to a request of its own. */
  readonly firstId?: number
  readonly answer: (request: Request) => Outcome | Promise<Outcome>
  readonly hear: (notification: Notification) => void
}

/** One side of a JSON-RPC link over lines: the demo's client and its server are both one of these. */
export class Peer {
  readonly #options: PeerOptions
  readonly #waiting = new Map<string, (outcome: Outcome | undefined) => void>()
  #nextId: number
  #gone = false

  constructor(options: PeerOptions) {
    this.#options = options
    this.#nextId = options.firstId ?? 0
    // Writing to a peer that has just left is no fault of ours: its absence shows when the input closes.
    options.output.on('error', () => {})
    createInterface({ input: options.input })
      .on('line', (line) => this.#receive(line))
      .on('close', () => this.#giveUp())
  }

  /** The answer, whatever it says; none when the other side left without one. */
  request(method: string, params: unknown): Promise<Outcome | undefined> {
    if (this.#gone) return Promise.resolve(undefined)
    const id = this.#nextId++
    return new Promise((resolve) => {
      this.#waiting.set(idKey(id), resolve)
      this.#send({ jsonrpc: '2.0', id, method, params })
    })
  }

  notify(method: string, params?: unknown): void {
    this.#send({ jsonrpc: '2.0', method, params })
  }

  #receive(line: string): void {
    const message = classify(parseJson(line))
    if (message.kind === 'request') void this.#answer(message)
    else if (message.kind === 'notification') this.#options.hear(message)
    else if (message.kind === 'response') this.#settle(message)
  }

  async #answer(request: Request): Promise<void> {
    const outcome = await this.#options.answer(request)
    this.#send({ jsonrpc: '2.0', id: request.id, ...outcome })
  }

  #settle({ id, outcome }: Response): void {
    if (id === null) return
    this.#waiting.get(idKey(id))?.(outcome)
    this.#waiting.delete(idKey(id))
  }

  #giveUp(): void {
    this.#gone = true
    for (const settle of this.#waiting.values()) settle(undefined)
    this.#waiting.clear()
  }

  #send(message: object): void {
    this.#options.output.write(`${JSON.stringify(message)}\n`)
  }
}
