import type { FaultKind } from '../fault.ts'
import { editResult } from '../fault.ts'

/** Answers `initialize` with another protocol version than the client asked for. */
export const downgrade: FaultKind = {
  name: 'downgrade',
  help: 'Answer initialize with this protocol version; other requests are not affected',
  expects: 'a protocol version such as 2024-11-05',
  example: '2024-11-05',
  affects: /^initialize$/,
  parse: (value) => {
    if (typeof value !== 'string' || !/^[\w.-]{1,40}$/.test(value)) return undefined
    return {
      description: `gets the protocol version ${value}`,
      hidesResponse: false,
      needs: 'send', // a replay has no such response to change
      apply: ({ request, play, reply }) =>
        play((text, source) => {
          const isOpening = request.method === 'initialize' && text !== undefined
          reply(
            isOpening ? editResult(text, (given) => ({ ...given, protocolVersion: value })) : text,
            source,
          )
        }),
    }
  },
}
