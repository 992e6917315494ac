import { responseText } from '../../protocol/message.ts'
import { type FaultKind, flagFault } from '../fault.ts'

const LISTEN = 'subscriptions/listen'

/** Loses a subscription. The server never learns of it, or its stream ends at once. Other requests are not affected. */
export const unsubscribe: FaultKind = flagFault(
  'unsubscribe',
  'Lose a subscription: it is confirmed and then never reports anything; other requests are not affected',
  {
    description: 'loses its subscription',
    hidesResponse: false,
    apply: ({ id, request, play, reply, connection }) => {
      if (request.method === 'resources/subscribe') return reply(responseText(id, { result: {} }))
      if (request.method !== LISTEN) return play(reply)
      connection.drop?.()
      reply(undefined)
    },
  },
  /^(resources\/subscribe|subscriptions\/listen)$/,
)
