import { oneServer } from '../tape/server-filter.ts'
import { recordedTurns, type RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { eraOf, type EraFound, type Exchange } from '../wire/era.ts'
import { HANDSHAKE_METHODS } from '../wire/methods.ts'
import { Landmarks } from './landmarks.ts'
import { PartTurns } from './part-turns.ts'
import { abortedTurns } from './recorded-aborts.ts'
import type { ReplayedTape } from './replayed-tape.ts'

/** One server's part of a tape, for a client to be played to. */
export interface ServerPart {
  readonly server: string
  readonly turns: RecordedTurns
  readonly landmarks: Landmarks
  readonly era: EraFound
}

/** The part that the user means; it is never guessed. */
export async function onePart(tape: ReplayedTape, wanted: string | undefined): Promise<ServerPart> {
  const all = recordedTurns(tape.turns)
  const server = oneServer({ path: tape.path, names: serversIn(all) }, wanted)
  const places = new Uint32Array(all.size)
  const landmarks = new Landmarks()
  let own = 0
  for (let place = 0; place < all.size; place++) {
    const outline = all.outline(place)
    if (outline.trigger === 'none' || outline.server !== server) continue
    landmarks.add(outline, own)
    places[own++] = place
  }
  const turns = new PartTurns(all, own === all.size ? undefined : places.slice(0, own))
  const aborts = landmarks.hasUnansweredEnvelope ? await abortedTurns(turns, tape) : []
  return { server, turns: turns.with(aborts), landmarks, era: eraOf(provingIn(turns)) }
}

function serversIn(turns: RecordedTurns): readonly string[] {
  const names = new Set<string>()
  for (let place = 0; place < turns.size; place++) {
    const { trigger, server } = turns.outline(place)
    if (trigger !== 'none') names.add(server)
  }
  return [...names]
}

/** What may prove an era. */
function* provingIn(turns: RecordedTurns): Generator<Exchange> {
  for (let place = 0; place < turns.size; place++) {
    const { method, enveloped } = turns.outline(place)
    if (enveloped || HANDSHAKE_METHODS.has(method)) yield* exchangeIn(turns.turn(place))
  }
}

function exchangeIn(turn: Turn | undefined): readonly Exchange[] {
  const request = turn?.trigger?.message
  const answer = turn?.response?.message
  if (request?.kind !== 'request') return []
  return [{ request, response: answer?.kind === 'response' ? answer : undefined }]
}
