import { parseDuration } from '../player/clock.ts'
import type { FaultKind } from './fault.ts'

/** The turn begins later. */
export const delay: FaultKind = {
  name: 'delay',
  expects: 'a time: 250, 250ms, 2s',
  parse: (value) => {
    const ms = parseDuration(value)
    if (ms === undefined) return undefined
    return {
      description: `is answered ${ms} ms late`,
      hidesAnswer: false,
      apply: ({ clock, isCancelled, play, reply }) =>
        clock.after(ms, () => (isCancelled() ? reply(undefined) : play(reply))),
    }
  },
}
