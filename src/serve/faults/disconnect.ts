import { type FaultKind, flagFault } from './fault.ts'

/** The server is gone, as if it had crashed. */
export const disconnect: FaultKind = flagFault('disconnect', {
  description: 'ends the connection',
  hidesAnswer: true,
  needs: 'disconnect',
  apply: ({ outlet, reply, link }) => {
    link.disconnect?.(outlet)
    reply(undefined)
  },
})
