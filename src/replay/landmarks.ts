import type { TurnOutline, RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { HANDSHAKE_METHODS } from '../protocol/methods.ts'

/** The turns that a run has to look at before it begins, by their places. */
export class TapeOutline {
  /** Those that open a conversation. */
  readonly handshakes: number[] = []
  /** Those that tell of tools. */
  readonly toolLists: number[] = []
  /** The first message of the client, and the first that calls a tool. */
  first: number | undefined
  firstCall: number | undefined
  /** The first in which the client carried the modern envelope. */
  firstEnveloped: number | undefined
  hasUnansweredEnvelope = false
  #firstFrame = Infinity

  add({ trigger, method, frame, enveloped, answered }: TurnOutline, place: number): void {
    if (frame < this.#firstFrame) {
      this.#firstFrame = frame
      this.first = place
    }
    if (method === 'tools/call') this.firstCall ??= place
    else if (method === 'tools/list') this.toolLists.push(place)
    else if (HANDSHAKE_METHODS.has(method)) this.handshakes.push(place)
    if (!enveloped) return
    this.firstEnveloped ??= place
    this.hasUnansweredEnvelope ||= trigger === 'request' && !answered
  }
}

/** The turns at some places. */
export function turnsAtPlaces(
  turns: RecordedTurns,
  places: readonly (number | undefined)[],
): readonly Turn[] {
  return places.flatMap((place) => (place === undefined ? [] : (turns.turn(place) ?? [])))
}
