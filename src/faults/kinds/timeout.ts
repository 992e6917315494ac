import { type FaultKind, flagFault } from '../fault.ts'

/** Never responds. */
export const timeout: FaultKind = flagFault('timeout', 'Never answer', {
  description: 'is never answered',
  hidesResponse: true,
  apply: ({ reply }) => reply(undefined),
})
