import { type FaultKind, flagFault } from '../fault.ts'

/** Closes the connection, as if the server had crashed. */
export const disconnect: FaultKind = flagFault('disconnect', 'Close the connection', {
  description: 'ends the connection',
  hidesResponse: true,
  needs: 'disconnect',
  apply: ({ reply, connection }) => {
    connection.disconnect?.()
    reply(undefined)
  },
})
