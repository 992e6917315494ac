import { idKey, type Id } from '../protocol/id.ts'
import type { ReplyChannel } from './player/reply-channel.ts'
import type { TriggeredTurn } from './player/playback.ts'
import type { TurnPlayer } from './player/turn-player.ts'

interface InFlightTurn {
  readonly playing: TurnPlayer
  readonly part: TriggeredTurn
}

/** The live requests that are being answered, by their ids. */
export class InFlightTurns {
  readonly #entries = new Map<string, InFlightTurn>()

  /** False when the id was in use already; the newer request then has it. */
  add(playing: TurnPlayer, part: TriggeredTurn): boolean {
    const key = inFlightKey(part)
    const isFree = !this.#entries.has(key)
    this.#entries.set(key, { playing, part })
    return isFree
  }

  remove(playing: TurnPlayer, part: TriggeredTurn): void {
    const key = inFlightKey(part)
    if (this.#entries.get(key)?.playing === playing) this.#entries.delete(key)
  }

  get(id: Id, { scope }: ReplyChannel): InFlightTurn | undefined {
    return this.#entries.get(scope + idKey(id))
  }

  all(): readonly InFlightTurn[] {
    return [...this.#entries.values()]
  }
}

function inFlightKey({ live, outlet }: TriggeredTurn): string {
  return live?.message.kind === 'request' ? outlet.scope + idKey(live.message.id) : ''
}
