import { type FaultKind, flagFault } from '../fault.ts'

/** Sends the response only after the client has cancelled the request. */
export const late: FaultKind = flagFault('late', 'Answer only after the client has cancelled the request', {
  description: 'is answered only after the client cancels it',
  hidesResponse: true,
  needs: 'send',
  apply: ({ play, reply, onCancel, connection }) =>
    play((text) => {
      reply(undefined)
      if (text !== undefined) onCancel(() => connection.send?.(text))
    }),
})
