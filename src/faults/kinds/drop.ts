import { type FaultKind, flagFault } from '../fault.ts'

/** Ends the stream of the request before the response. Over stdio, which has no such stream, only the response is missing. */
export const drop: FaultKind = flagFault('drop', 'Break the stream off before the response', {
  description: 'loses its stream before the response',
  hidesResponse: true,
  apply: ({ play, reply, connection }) =>
    play(() => {
      connection.drop?.()
      reply(undefined)
    }),
})
