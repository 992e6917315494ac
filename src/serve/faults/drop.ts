import { type FaultKind, flagFault } from './fault.ts'

/** The stream of the request ends before its answer came; over stdio, which has none, the answer is left out. */
export const drop: FaultKind = flagFault('drop', {
  description: 'loses its stream before the answer',
  hidesAnswer: true,
  apply: ({ outlet, play, reply, link }) =>
    play(() => {
      link.drop?.(outlet)
      reply(undefined)
    }),
})
