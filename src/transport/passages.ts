import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ProxiedExchange } from '../http/proxy/proxied-exchange.ts'

/** The exchanges that are under way. */
export class OpenExchanges {
  // No Set: at this rate of coming and going it leaves old tables behind, and each keeps its exchanges until the next full collection.
  readonly #exchanges: ProxiedExchange[] = []

  start(passage: ProxiedExchange, req: IncomingMessage, res: ServerResponse): void {
    passage.slot = this.#exchanges.push(passage) - 1
    res.on('close', () => this.#remove(passage))
    passage.start(req, res)
  }

  stop(): void {
    for (const passage of this.#exchanges) passage.stop()
  }

  #remove({ slot }: ProxiedExchange): void {
    const last = this.#exchanges.pop()
    if (last === undefined || last.slot === slot) return
    this.#exchanges[slot] = last
    last.slot = slot
  }
}
