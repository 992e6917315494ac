import { ReelayError } from '../errors.ts'
import { recordedTurns, type RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import { eraOf, type EraFound, type Exchange } from '../wire/era.ts'
import { HANDSHAKE_METHODS } from '../wire/methods.ts'
import { landmarksIn, type Landmarks } from './landmarks.ts'
import { abortedTurns } from './recorded-aborts.ts'
import { partOf } from './part-turns.ts'
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
  const names = serversIn(all)
  const server = wanted ?? names[0] ?? ''
  if (wanted === undefined ? names.length >= 2 : !names.includes(wanted))
    throw unclear(tape.path, wanted, names)
  const own = partOf(all, server)
  const landmarks = landmarksIn(own)
  const aborts = landmarks.hasUnansweredEnvelope ? await abortedTurns(own, tape) : []
  return { server, turns: own.with(aborts), landmarks, era: eraOf(provingIn(own)) }
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

function unclear(path: string, wanted: string | undefined, names: readonly string[]): ReelayError {
  const problem =
    wanted === undefined ? `${path} holds ${names.length} servers` : `${path} holds no server "${wanted}"`
  return new ReelayError('USAGE', problem, { hint: `choose one with --server: ${names.join(', ')}` })
}
