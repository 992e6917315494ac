import type { FaultKind } from '../fault.ts'

const MAX_NOTIFICATIONS = 10_000

/** Sends many notifications of an unknown method before the response. */
export const flood: FaultKind = {
  name: 'flood',
  help: 'Send many notifications of an unknown method before the response',
  expects: `a number of notifications from 1 to ${MAX_NOTIFICATIONS}`,
  example: 100,
  parse: (value) => {
    if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > MAX_NOTIFICATIONS) return undefined
    return {
      description: `is answered after ${Number(value)} unknown notifications`,
      hidesResponse: false,
      needs: 'send',
      apply: ({ play, reply, connection }) => {
        for (let sent = 0; sent < Number(value); sent++)
          connection.send?.(`{"jsonrpc":"2.0","method":"notifications/reelay/flood","params":{"n":${sent}}}`)
        play(reply)
      },
    }
  },
}
