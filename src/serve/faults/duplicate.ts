import { type FaultKind, flagFault } from './fault.ts'

/** The answer comes twice. */
export const duplicate: FaultKind = flagFault('duplicate', {
  description: 'is answered twice',
  hidesAnswer: false,
  apply: ({ outlet, play, reply }) =>
    play((text, source) => {
      reply(text, source)
      if (text !== undefined) outlet.send(text)
    }),
})
