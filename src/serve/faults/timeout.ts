import type { FaultKind } from './fault.ts'
import { flagFault } from './flag-fault.ts'

/** The server took the request, and is silent. */
export const timeout: FaultKind = flagFault('timeout', {
  description: 'is never answered',
  hidesAnswer: true,
  apply: ({ reply }) => reply(undefined),
})
