import type { FaultKind } from './fault.ts'
import { flagFault } from './flag-fault.ts'

/** The server is gone, as if it had crashed. */
export const disconnect: FaultKind = flagFault('disconnect', {
  words: 'ends the connection',
  hidesAnswer: true,
  needs: 'disconnect',
  strike: ({ outlet, reply, link }) => {
    reply(undefined)
    link.disconnect?.(outlet)
  },
})
