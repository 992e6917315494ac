import { readDuration } from '../duration.ts'
import type { FaultKind } from './fault.ts'

/** The turn begins later. */
export const delay: FaultKind = {
  name: 'delay',
  takes: 'a time: 250, 250ms, 2s',
  read: (value) => {
    const ms = readDuration(value)
    if (ms === undefined) return undefined
    return {
      words: `is answered ${ms} ms late`,
      hidesAnswer: false,
      strike: ({ clock, isCancelled, play, reply }) =>
        clock.after(ms, () => (isCancelled() ? reply(undefined) : play(reply))),
    }
  },
}
