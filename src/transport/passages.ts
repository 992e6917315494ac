import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Passage } from './http-passage.ts'

/** The exchanges that are under way. */
export class Passages {
  // No Set: at this rate of coming and going it leaves old tables behind, and each keeps its exchanges until the next full collection.
  readonly #passages: Passage[] = []

  letThrough(passage: Passage, req: IncomingMessage, res: ServerResponse): void {
    passage.slot = this.#passages.push(passage) - 1
    res.on('close', () => this.#forget(passage))
    passage.run(req, res)
  }

  stop(): void {
    for (const passage of this.#passages) passage.stop()
  }

  #forget({ slot }: Passage): void {
    const last = this.#passages.pop()
    if (last === undefined || last.slot === slot) return
    this.#passages[slot] = last
    last.slot = slot
  }
}
