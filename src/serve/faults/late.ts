import { type FaultKind, flagFault } from './fault.ts'

/** The answer comes only when the client has given the request up. */
export const late: FaultKind = flagFault('late', {
  description: 'is answered only after the client cancels it',
  hidesAnswer: true,
  apply: ({ outlet, play, reply, onCancel }) =>
    play((text) => {
      reply(undefined)
      if (text !== undefined) onCancel(() => outlet.send(text))
    }),
})
