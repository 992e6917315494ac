import { type FaultKind, flagFault } from '../fault.ts'

/** Never responds. */
export const timeout: FaultKind = flagFault('timeout', {
  description: 'is never answered',
  hidesResponse: true,
  apply: ({ reply }) => reply(undefined),
})
