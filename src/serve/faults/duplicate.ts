import type { FaultKind } from './fault.ts'
import { flagFault } from './flag-fault.ts'

/** The answer comes twice. */
export const duplicate: FaultKind = flagFault('duplicate', {
  words: 'is answered twice',
  hidesAnswer: false,
  strike: ({ outlet, play, reply }) =>
    play((text, source) => {
      reply(text, source)
      if (text !== undefined) outlet.send(text)
    }),
})
