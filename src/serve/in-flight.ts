import { idKey, type Id } from '../wire/id.ts'
import type { Outlet } from './outlet.ts'
import type { Part } from './performance.ts'
import type { Playing } from './playing.ts'

interface Entry {
  readonly playing: Playing
  readonly part: Part
}

/** The live requests that are being answered, by their ids. */
export class InFlight {
  readonly #entries = new Map<string, Entry>()

  /** False when the id was in use already; the newer request then has it. */
  enter(playing: Playing, part: Part): boolean {
    const key = keyOf(part)
    const isFree = !this.#entries.has(key)
    this.#entries.set(key, { playing, part })
    return isFree
  }

  leave(playing: Playing, part: Part): void {
    const key = keyOf(part)
    if (this.#entries.get(key)?.playing === playing) this.#entries.delete(key)
  }

  get(id: Id, { scope }: Outlet): Entry | undefined {
    return this.#entries.get(scope + idKey(id))
  }

  all(): readonly Entry[] {
    return [...this.#entries.values()]
  }
}

function keyOf({ live, outlet }: Part): string {
  return live?.message.kind === 'request' ? outlet.scope + idKey(live.message.id) : ''
}
