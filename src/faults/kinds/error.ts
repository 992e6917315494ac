import { parseRpcError, responseText } from '../../protocol/message.ts'
import type { FaultKind } from '../fault.ts'

/** Responds with a JSON-RPC error. */
export const error: FaultKind = {
  name: 'error',
  help: 'Answer with a JSON-RPC error',
  example: { code: -32000, message: 'overloaded' },
  expects: 'code, message and optionally data',
  parse: (value) => {
    const rpcError = parseRpcError(value)
    if (rpcError === undefined) return undefined
    return {
      description: `is answered with error ${rpcError.code} ${JSON.stringify(rpcError.message)}`,
      hidesResponse: true,
      apply: ({ id, reply }) => reply(responseText(id, { error: rpcError })),
    }
  },
}
