import {
  detectRevision,
  isOpeningMethod,
  revisionOfRequest,
  type DetectedRevision,
} from '../../protocol/revisions/index.ts'
import type { RequestExchange } from '../../protocol/revisions/revision.ts'
import { idKey, isId, classifyMessage } from '../../protocol/message.ts'
import { member } from '../../json/parse.ts'
import { openTape, type Tape } from '../../store/file/read.ts'
import type { IndexedTape } from '../../store/index/indexed-tape.ts'
import type { Frame } from '../../tape/frame.ts'
import { selectOneServer } from '../../tape/server-filter.ts'
import {
  FilteredTurns,
  turnStoreOf,
  TurnStore,
  type TurnSummary,
  type Turn,
  type RecordedMessage,
} from '../../tape/turns.ts'

/** The part of a tape that belongs to one server. */
export interface ServerPart {
  readonly server: string
  readonly turns: TurnStore
  readonly landmarks: TapeOutline
  readonly revision: DetectedRevision
}

/** Selects the part of the server that the user named, or of the only server. Throws if the tape has several servers and none is named. */
export async function selectServerPart(tape: ReplayedTape, wanted: string | undefined): Promise<ServerPart> {
  const all = turnStoreOf(tape.turns)
  const outlines = outlineByServer(all)
  const server = selectOneServer({ path: tape.path, names: [...outlines.keys()] }, wanted)
  const landmarks = outlines.get(server) ?? new TapeOutline()
  const turns = landmarks.count === all.size ? all : turnsOf(server, all)
  const aborts = landmarks.hasUnansweredEnvelope ? await abortedTurns(turns, tape) : []
  return {
    server,
    turns: aborts.length === 0 ? turns : new ExtendedTurns(turns, aborts),
    landmarks,
    revision: detectRevision(openingExchanges(turns)),
  }
}

function turnsOf(server: string, all: TurnStore): TurnStore {
  return new FilteredTurns(all, (index) => {
    const summary = all.summary(index)
    return summary.trigger !== 'none' && summary.server === server
  })
}

/** One pass over the tape collects what the client sent to each server. */
function outlineByServer(turns: TurnStore): ReadonlyMap<string, TapeOutline> {
  const outlines = new Map<string, TapeOutline>()
  for (let index = 0; index < turns.size; index++) {
    const summary = turns.summary(index)
    if (summary.trigger === 'none') continue
    const outline = outlines.get(summary.server) ?? new TapeOutline()
    outlines.set(summary.server, outline)
    outline.add(summary, index)
  }
  return outlines
}

/** The exchanges that can tell the protocol revision. */
function* openingExchanges(turns: TurnStore): Generator<RequestExchange> {
  for (let place = 0; place < turns.size; place++) {
    const { method, enveloped } = turns.summary(place)
    if (enveloped || isOpeningMethod(method)) yield* exchangeIn(turns.at(place))
  }
}

function exchangeIn(turn: Turn | undefined): readonly RequestExchange[] {
  const request = turn?.trigger?.message
  const answer = turn?.response?.message
  if (request?.kind !== 'request') return []
  return [{ request, response: answer?.kind === 'response' ? answer : undefined }]
}

/** Turns with further turns appended. */
class ExtendedTurns extends TurnStore {
  readonly size: number
  readonly #turns: TurnStore
  readonly #added: TurnStore

  constructor(turns: TurnStore, added: readonly Turn[]) {
    super()
    this.size = turns.size + added.length
    this.#turns = turns
    this.#added = turnStoreOf(added)
  }

  at(index: number): Turn | undefined {
    return this.#turns.at(index) ?? this.#added.at(index - this.#turns.size)
  }

  trigger(index: number): RecordedMessage | undefined {
    return this.#turns.trigger(index) ?? this.#added.trigger(index - this.#turns.size)
  }

  summary(index: number): TurnSummary {
    return index < this.#turns.size
      ? this.#turns.summary(index)
      : this.#added.summary(index - this.#turns.size)
  }
}

/** The positions of turns that are needed before a run begins. */
class TapeOutline {
  /** Number of turns of this server. */
  count = 0
  /** Turns that open a session. */
  readonly handshakes: number[] = []
  /** Turns that list tools. */
  readonly toolLists: number[] = []
  /** The first message of the client, and its first call of a tool. */
  first: number | undefined
  firstCall: number | undefined
  /** The first request with a modern envelope. */
  firstEnveloped: number | undefined
  hasUnansweredEnvelope = false
  #firstFrame = Infinity

  add({ trigger, method, frame, enveloped, answered }: TurnSummary, place: number): void {
    this.count++
    if (frame < this.#firstFrame) {
      this.#firstFrame = frame
      this.first = place
    }
    if (method === 'tools/call') this.firstCall ??= place
    else if (method === 'tools/list') this.toolLists.push(place)
    else if (isOpeningMethod(method)) this.handshakes.push(place)
    if (!enveloped) return
    this.firstEnveloped ??= place
    this.hasUnansweredEnvelope ||= trigger === 'request' && !answered
  }
}

/** Reads the turns at these positions. */
export function turnsAtPlaces(turns: TurnStore, places: readonly (number | undefined)[]): readonly Turn[] {
  return places.flatMap((place) => (place === undefined ? [] : (turns.at(place) ?? [])))
}

/**
 * Makes cancellations for modern requests over HTTP whose streams the recorded client closed. In the legacy era, closing a stream
 * does not cancel a request.
 */
async function abortedTurns(turns: TurnStore, tape: ReplayedTape): Promise<readonly Turn[]> {
  const aborts = 'rest' in tape ? tape.rest.filter(isAbortOfClient) : await abortsOnDisk(tape.path)
  if (aborts.length === 0) return []
  const cancelled = new Set(cancellationsIn(turns))
  return unansweredIn(turns).flatMap((turn) => {
    const { trigger, response } = turn
    if (
      trigger?.message.kind !== 'request' ||
      response !== undefined ||
      !revisionOfRequest(trigger.message.params).closingCancels
    )
      return []
    const abort = aborts.find(
      ({ conn, x, server }) => conn === trigger.conn && x === trigger.x && server === trigger.server,
    )
    if (abort === undefined || cancelled.has(idKey(trigger.message.id))) return []
    return [{ trigger: cancellationOf(trigger, abort), steps: [], response: undefined }]
  })
}

/** Reads the file again, because an index has no events. Only needed for tapes with unanswered requests. */
async function abortsOnDisk(path: string): Promise<readonly EventFrame[]> {
  const aborts: EventFrame[] = []
  const reader = await openTape(path)
  for await (const frames of reader.batches()) aborts.push(...frames.filter(isAbortOfClient))
  return aborts
}

/** The unanswered requests with an envelope. */
function unansweredIn(turns: TurnStore): readonly Turn[] {
  return turnsWhere(
    turns,
    ({ trigger, answered, enveloped }) => trigger === 'request' && !answered && enveloped,
  )
}

function cancellationsIn(turns: TurnStore): readonly (string | undefined)[] {
  return turnsWhere(turns, ({ method }) => method === 'notifications/cancelled').map(cancelledIdKey)
}

function turnsWhere(turns: TurnStore, isMeant: (summary: TurnSummary) => boolean): readonly Turn[] {
  const places = Array.from({ length: turns.size }, (_, place) => place)
  return turnsAtPlaces(
    turns,
    places.filter((place) => isMeant(turns.summary(place))),
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
  const cancellation = classifyMessage(value)
  const { server, conn, x } = request
  return {
    n,
    t,
    server,
    conn,
    ...(x !== undefined && { x }),
    dir: 'c2s',
    text: JSON.stringify(value),
    message: cancellation.kind === 'batch' ? message : cancellation,
  }
}

/** A tape in memory, or a large one that stays on disk. */
export type ReplayedTape = Tape | IndexedTape
