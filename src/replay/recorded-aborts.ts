import type { Frame } from '../tape/frame.ts'
import type { Spoken, Turn } from '../tape/turn.ts'
import { idKey, isId } from '../wire/id.ts'
import { classify, member } from '../wire/message.ts'
import { isEnveloped } from '../wire/methods.ts'

/**
 * The requests that the recorded client gave up by closing their streams, as the cancellations that they are: of modern
 * requests over HTTP, because in the legacy era a closed stream cancels nothing.
 */
export function recordedAborts(turns: readonly Turn[], rest: readonly Frame[]): readonly Turn[] {
  const aborts = rest.filter(isAbortOfClient)
  if (aborts.length === 0) return []
  const cancelled = new Set(turns.map(cancelledBy))
  return turns.flatMap((turn) => {
    const { trigger, response } = turn
    if (trigger?.message.kind !== 'request' || response !== undefined || !isEnveloped(trigger.message.params))
      return []
    const abort = aborts.find(
      ({ conn, x, server }) => conn === trigger.conn && x === trigger.x && server === trigger.server,
    )
    if (abort === undefined || cancelled.has(idKey(trigger.message.id))) return []
    return [{ trigger: cancellationOf(trigger, abort), steps: [], response: undefined }]
  })
}

type EventFrame = Extract<Frame, { kind: 'event' }>

function isAbortOfClient(frame: Frame): frame is EventFrame {
  return frame.kind === 'event' && frame.event === 'abort' && member(frame.details, 'by') === 'client'
}

function cancelledBy({ trigger }: Turn): string | undefined {
  const message = trigger?.message
  if (message?.kind !== 'notification' || message.method !== 'notifications/cancelled') return undefined
  const id = member(message.params, 'requestId')
  return isId(id) ? idKey(id) : undefined
}

function cancellationOf(request: Spoken, { n, t }: EventFrame): Spoken {
  const { message } = request
  const requestId = message.kind === 'request' ? message.id : null
  const _meta = 'params' in message ? member(message.params, '_meta') : undefined
  const value = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, _meta } }
  const spoken = classify(value)
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
