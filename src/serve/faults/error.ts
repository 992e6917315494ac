import { isObject, member } from '../../protocol/message.ts'
import { responseText, type RpcError } from '../player/synthetic-answers.ts'
import type { FaultKind } from './fault.ts'

/** A JSON-RPC error stands in for the answer. */
export const error: FaultKind = {
  name: 'error',
  expects: 'code, message and, if you like, data',
  parse: (value) => {
    const answer = parseRpcError(value)
    if (answer === undefined) return undefined
    return {
      description: `is answered with error ${answer.code} ${JSON.stringify(answer.message)}`,
      hidesAnswer: true,
      apply: ({ id, reply }) => reply(responseText(id, { error: answer })),
    }
  },
}

/** A JSON-RPC error object; undefined when it is none. */
export function parseRpcError(value: unknown): RpcError | undefined {
  const [code, message] = [member(value, 'code'), member(value, 'message')]
  if (!Number.isInteger(code) || typeof message !== 'string' || !isObject(value)) return undefined
  const data = Object.hasOwn(value, 'data') ? { data: value['data'] } : {}
  return { code: Number(code), message, ...data }
}
