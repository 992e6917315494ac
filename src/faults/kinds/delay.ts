import { parseDuration } from '../../text.ts'
import type { FaultKind } from '../fault.ts'

/** Handles the request later. */
export const delay: FaultKind = {
  name: 'delay',
  help: 'Handle the request later',
  example: '2s',
  expects: 'a duration such as 250, 250ms or 2s',
  parse: (value) => {
    const ms = parseDuration(value)
    if (ms === undefined) return undefined
    return {
      description: `is answered ${ms} ms late`,
      hidesResponse: false,
      apply: ({ clock, isCancelled, play, reply }) =>
        clock.after(ms, () => (isCancelled() ? reply(undefined) : play(reply))),
    }
  },
}
