import type { FaultKind } from '../fault.ts'

const DEFAULT_LINE = 'Server is ready'

/** Sends a line that is not a message, as servers do that log to stdout. */
export const stray: FaultKind = {
  name: 'stray',
  help: 'Send a line that is not a message before the response, as a server does that logs to stdout',
  expects: 'true, or the text of the line',
  example: true,
  parse: (value) => {
    if (value !== true && (typeof value !== 'string' || value === '' || /[\r\n]/.test(value)))
      return undefined
    const line = value === true ? DEFAULT_LINE : value
    return {
      description: 'is answered after a line that is not a message',
      hidesResponse: false,
      needs: 'send',
      apply: ({ play, reply, connection }) => {
        connection.send?.(line)
        play(reply)
      },
    }
  },
}
