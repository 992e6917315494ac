import type { Outline, RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { HANDSHAKE_METHODS } from '../wire/methods.ts'

/** The turns that a run has to look at before it begins, by their places. */
export interface Landmarks {
  /** Those that open a conversation. */
  readonly handshakes: readonly number[]
  /** Those that tell of tools. */
  readonly toolLists: readonly number[]
  readonly firstCall: number | undefined
  /** The first in which the client carried the modern envelope. */
  readonly firstEnveloped: number | undefined
  readonly hasUnansweredEnvelope: boolean
}

/** Looks at the outlines: no turn is read for it. */
export function landmarksIn(turns: RecordedTurns): Landmarks {
  const handshakes: number[] = []
  const toolLists: number[] = []
  let firstCall: number | undefined
  let firstEnveloped: number | undefined
  let hasUnansweredEnvelope = false
  for (let place = 0; place < turns.size; place++) {
    const outline = turns.outline(place)
    if (outline.method === 'tools/call') firstCall ??= place
    else if (outline.method === 'tools/list') toolLists.push(place)
    else if (HANDSHAKE_METHODS.has(outline.method)) handshakes.push(place)
    if (outline.enveloped) firstEnveloped ??= place
    hasUnansweredEnvelope ||= isUnansweredEnvelope(outline)
  }
  return { handshakes, toolLists, firstCall, firstEnveloped, hasUnansweredEnvelope }
}

/** The turns at some places. */
export function turnsAt(turns: RecordedTurns, places: readonly (number | undefined)[]): readonly Turn[] {
  return places.flatMap((place) => (place === undefined ? [] : (turns.turn(place) ?? [])))
}

function isUnansweredEnvelope({ trigger, enveloped, answered }: Outline): boolean {
  return enveloped && !answered && trigger === 'request'
}
