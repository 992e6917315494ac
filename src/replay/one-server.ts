import { wholeColumn } from '../store/columns.ts'
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
  const parts = partsOf(all)
  const server = oneServer({ path: tape.path, names: [...parts.keys()] }, wanted)
  const { places, landmarks } = parts.get(server) ?? newPart()
  const turns = new PartTurns(all, places.length === all.size ? undefined : places.taken())
  const aborts = landmarks.hasUnansweredEnvelope ? await abortedTurns(turns, tape) : []
  return { server, turns: turns.with(aborts), landmarks, era: eraOf(provingIn(turns)) }
}

interface Part {
  readonly places: ReturnType<typeof wholeColumn>
  readonly landmarks: Landmarks
}

/** What the client said to each server, found in one look through the tape. */
function partsOf(turns: RecordedTurns): ReadonlyMap<string, Part> {
  const parts = new Map<string, Part>()
  for (let place = 0; place < turns.size; place++) {
    const outline = turns.outline(place)
    if (outline.trigger === 'none') continue
    const { server } = outline
    const part = parts.get(server) ?? newPart()
    if (part.places.length === 0) parts.set(server, part)
    part.landmarks.add(outline, part.places.length)
    part.places.push(place)
  }
  return parts
}

function newPart(): Part {
  return { places: wholeColumn(), landmarks: new Landmarks() }
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
