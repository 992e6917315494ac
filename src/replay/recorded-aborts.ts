import { openTape } from '../store/file/read.ts'
import type { Frame } from '../tape/frame.ts'
import type { TurnOutline, RecordedTurns } from '../tape/turn-store.ts'
import type { RecordedMessage, Turn } from '../tape/turn.ts'
import { idKey, isId } from '../protocol/id.ts'
import { classifyMessage, member } from '../protocol/message.ts'
import { hasModernEnvelope } from '../protocol/methods.ts'
import { turnsAtPlaces } from './landmarks.ts'
import type { ReplayedTape } from './replayed-tape.ts'

/**
 * The requests that the recorded client gave up by closing their streams, as the cancellations that they are: of modern
 * requests over HTTP, because in the legacy era a closed stream cancels nothing.
 */
export async function abortedTurns(turns: RecordedTurns, tape: ReplayedTape): Promise<readonly Turn[]> {
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
