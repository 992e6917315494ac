import { parseDuration } from '../../text.ts'
import { type FaultKind, editResult } from '../fault.ts'

/** Moves the dates in a result, as a server with a wrong clock would. */
export const skew: FaultKind = {
  name: 'skew',
  help: 'Move the dates in the result, as a server with a wrong clock does',
  expects: 'a duration such as 10m or -10m',
  example: '-10m',
  parse: (value) => {
    const text = String(value)
    const ms = parseDuration(text.replace(/^-/, ''))
    if (ms === undefined || ms === 0) return undefined
    const shift = text.startsWith('-') ? -ms : ms
    return {
      description: `is answered with dates that are ${text} off`,
      hidesResponse: true,
      apply: ({ play, reply }) =>
        play((response, source) =>
          reply(
            response === undefined ? undefined : editResult(response, (given) => shifted(given, shift)),
            source,
          ),
        ),
    }
  },
}

const DATE = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g

function shifted(value: unknown, shift: number): unknown {
  const moved = JSON.stringify(value).replaceAll(DATE, (date) =>
    new Date(Date.parse(date) + shift).toISOString(),
  )
  return JSON.parse(moved)
}
