import { uint32Column } from '../../store/columns.ts'
import { selectOneServer } from '../../tape/server-filter.ts'
import { toRecordedTurns, type RecordedTurns } from '../../tape/turn-store.ts'
import type { Turn } from '../../tape/turn.ts'
import { detectEra, type DetectedEra, type EraEvidence } from '../../protocol/era.ts'
import { HANDSHAKE_METHODS } from '../../protocol/methods.ts'
import { TapeOutline } from '../landmarks.ts'
import { ServerPartTurns } from '../part-turns.ts'
import { abortedTurns } from '../recorded-aborts.ts'
import type { ReplayedTape } from '../replayed-tape.ts'

/** One server's part of a tape, for a client to be played to. */
export interface ServerPart {
  readonly server: string
  readonly turns: RecordedTurns
  readonly landmarks: TapeOutline
  readonly era: DetectedEra
}

/** The part that the user means; it is never guessed. */
export async function selectServerPart(tape: ReplayedTape, wanted: string | undefined): Promise<ServerPart> {
  const all = toRecordedTurns(tape.turns)
  const parts = partsOf(all)
  const server = selectOneServer({ path: tape.path, names: [...parts.keys()] }, wanted)
  const { places, landmarks } = parts.get(server) ?? newPart()
  const turns = new ServerPartTurns(all, places.length === all.size ? undefined : places.toArray())
  const aborts = landmarks.hasUnansweredEnvelope ? await abortedTurns(turns, tape) : []
  return { server, turns: turns.with(aborts), landmarks, era: detectEra(eraEvidence(turns)) }
}

interface PartPlaces {
  readonly places: ReturnType<typeof uint32Column>
  readonly landmarks: TapeOutline
}

/** What the client said to each server, found in one look through the tape. */
function partsOf(turns: RecordedTurns): ReadonlyMap<string, PartPlaces> {
  const parts = new Map<string, PartPlaces>()
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

function newPart(): PartPlaces {
  return { places: uint32Column(), landmarks: new TapeOutline() }
}

/** What may prove an era. */
function* eraEvidence(turns: RecordedTurns): Generator<EraEvidence> {
  for (let place = 0; place < turns.size; place++) {
    const { method, enveloped } = turns.outline(place)
    if (enveloped || HANDSHAKE_METHODS.has(method)) yield* exchangeIn(turns.turn(place))
  }
}

function exchangeIn(turn: Turn | undefined): readonly EraEvidence[] {
  const request = turn?.trigger?.message
  const answer = turn?.response?.message
  if (request?.kind !== 'request') return []
  return [{ request, response: answer?.kind === 'response' ? answer : undefined }]
}
