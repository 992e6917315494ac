import { type FaultKind, flagFault } from '../fault.ts'

/** Sends the response twice. */
export const duplicate: FaultKind = flagFault('duplicate', 'Send the response twice', {
  description: 'is answered twice',
  hidesResponse: false,
  needs: 'send',
  apply: ({ play, reply, connection }) =>
    play((text, source) => {
      reply(text, source)
      if (text !== undefined) connection.send?.(text)
    }),
})
