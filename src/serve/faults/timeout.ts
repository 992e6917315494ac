import { type FaultKind, flagFault } from './fault.ts'

/** The server took the request, and is silent. */
export const timeout: FaultKind = flagFault('timeout', {
  description: 'is never answered',
  hidesAnswer: true,
  apply: ({ reply }) => reply(undefined),
})
