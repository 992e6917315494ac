import { parseDuration } from '../../text.ts'
import type { FaultKind } from '../fault.ts'

/** Handles the request later. */
export const delay: FaultKind = {
  name: 'delay',
  help: 'Handle the request later',
  example: '2s',
  expects: 'a duration such as 250, 250ms or 2s, or a range such as 100ms-2s',
  parse: (value) => {
    const [from, to = from] =
      typeof value === 'string' ? value.split('-').map(parseDuration) : [parseDuration(value)]
    if (from === undefined || to === undefined || to < from) return undefined
    return {
      description: `is answered ${from === to ? from : `${from} to ${to}`} ms late`,
      hidesResponse: false,
      apply: ({ clock, random, isCancelled, play, reply }) =>
        clock.after(from === to ? from : from + random() * (to - from), () =>
          isCancelled() ? reply(undefined) : play(reply),
        ),
    }
  },
}
