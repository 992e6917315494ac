import { detectEra, type DetectedEra, type EraEvidence } from '../../protocol/era.ts'
import { idKey, isId } from '../../protocol/id.ts'
import { classifyMessage, member } from '../../protocol/message.ts'
import { HANDSHAKE_METHODS, hasModernEnvelope } from '../../protocol/methods.ts'
import { uint32Column } from '../../store/columns.ts'
import { openTape, type Tape } from '../../store/file/read.ts'
import type { IndexedTape } from '../../store/index/indexed-tape.ts'
import type { Frame } from '../../tape/frame.ts'
import { selectOneServer } from '../../tape/server-filter.ts'
import {
  toRecordedTurns,
  type RecordedTurns,
  turnsInMemory,
  type TurnOutline,
} from '../../tape/turn-store.ts'
import type { Turn, RecordedMessage } from '../../tape/turn.ts'

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

/** The turns that a client of one server set off, and what was added to them. */
class ServerPartTurns implements RecordedTurns {
  readonly size: number
  readonly #all: RecordedTurns
  /** The places of those that are meant; undefined when all are. */
  readonly #places: Uint32Array | undefined
  readonly #added: RecordedTurns
  readonly #own: number

  constructor(all: RecordedTurns, places: Uint32Array | undefined, added: readonly Turn[] = []) {
    this.#all = all
    this.#places = places
    this.#added = turnsInMemory(added)
    this.#own = places?.length ?? all.size
    this.size = this.#own + added.length
  }

  /** With further turns behind its own. */
  with(added: readonly Turn[]): RecordedTurns {
    return added.length === 0 ? this : new ServerPartTurns(this.#all, this.#places, added)
  }

  outline(place: number): TurnOutline {
    return place < this.#own
      ? this.#all.outline(this.#placeOf(place))
      : this.#added.outline(place - this.#own)
  }

  turn(place: number): Turn | undefined {
    return place < this.#own ? this.#all.turn(this.#placeOf(place)) : this.#added.turn(place - this.#own)
  }

  trigger(place: number): RecordedMessage | undefined {
    return place < this.#own
      ? this.#all.trigger(this.#placeOf(place))
      : this.#added.trigger(place - this.#own)
  }

  *[Symbol.iterator](): Generator<Turn> {
    for (let place = 0; place < this.size; place++) {
      const turn = this.turn(place)
      if (turn !== undefined) yield turn
    }
  }

  #placeOf(place: number): number {
    return this.#places === undefined ? place : (this.#places[place] ?? -1)
  }
}

/** The turns that a run has to look at before it begins, by their places. */
class TapeOutline {
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

/**
 * The requests that the recorded client gave up by closing their streams, as the cancellations that they are: of modern
 * requests over HTTP, because in the legacy era a closed stream cancels nothing.
 */
async function abortedTurns(turns: RecordedTurns, tape: ReplayedTape): Promise<readonly Turn[]> {
  const aborts = 'rest' in tape ? tape.rest.filter(isAbortOfClient) : await abortsOnDisk(tape.path)
  if (aborts.length === 0) return []
  const cancelled = new Set(cancellationsIn(turns))
  return unansweredIn(turns).flatMap((turn) => {
    const { trigger, response } = turn
    if (
      trigger?.message.kind !== 'request' ||
      response !== undefined ||
      !hasModernEnvelope(trigger.message.params)
    )
      return []
    const abort = aborts.find(
      ({ conn, x, server }) => conn === trigger.conn && x === trigger.x && server === trigger.server,
    )
    if (abort === undefined || cancelled.has(idKey(trigger.message.id))) return []
    return [{ trigger: cancellationOf(trigger, abort), steps: [], response: undefined }]
  })
}

/** An index does not hold events: the file is read once more, and only for a tape on which requests may have been given up. */
async function abortsOnDisk(path: string): Promise<readonly EventFrame[]> {
  const aborts: EventFrame[] = []
  const reader = await openTape(path)
  for await (const frames of reader.batches()) aborts.push(...frames.filter(isAbortOfClient))
  return aborts
}

/** The requests with an envelope that got no answer. */
function unansweredIn(turns: RecordedTurns): readonly Turn[] {
  return turnsWhere(
    turns,
    ({ trigger, answered, enveloped }) => trigger === 'request' && !answered && enveloped,
  )
}

function cancellationsIn(turns: RecordedTurns): readonly (string | undefined)[] {
  return turnsWhere(turns, ({ method }) => method === 'notifications/cancelled').map(cancelledIdKey)
}

function turnsWhere(turns: RecordedTurns, isMeant: (outline: TurnOutline) => boolean): readonly Turn[] {
  const places = Array.from({ length: turns.size }, (_, place) => place)
  return turnsAtPlaces(
    turns,
    places.filter((place) => isMeant(turns.outline(place))),
  )
}

type EventFrame = Extract<Frame, { kind: 'event' }>

function isAbortOfClient(frame: Frame): frame is EventFrame {
  return frame.kind === 'event' && frame.event === 'abort' && member(frame.details, 'by') === 'client'
}

function cancelledIdKey({ trigger }: Turn): string | undefined {
  const message = trigger?.message
  if (message?.kind !== 'notification' || message.method !== 'notifications/cancelled') return undefined
  const id = member(message.params, 'requestId')
  return isId(id) ? idKey(id) : undefined
}

function cancellationOf(request: RecordedMessage, { n, t }: EventFrame): RecordedMessage {
  const { message } = request
  const requestId = message.kind === 'request' ? message.id : null
  const _meta = 'params' in message ? member(message.params, '_meta') : undefined
  const value = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, _meta } }
  const spoken = classifyMessage(value)
  const { server, conn, x } = request
  return {
    n,
    t,
    server,
    conn,
    ...(x !== undefined && { x }),
    dir: 'c2s',
    text: JSON.stringify(value),
    message: spoken.kind === 'batch' ? message : spoken,
  }
}

/** A tape that a client is played from: in memory, or on the disk, however large it is. */
export type ReplayedTape = Tape | IndexedTape
