import { member } from '../../json/parse.ts'
import { INVALID_PARAMS, METHOD_NOT_FOUND, responseText } from '../../protocol/message.ts'
import { type FaultContext, type FaultKind } from '../fault.ts'

type FaultyRequest = FaultContext<unknown>['request']

const REFUSALS: ReadonlyMap<unknown, (request: FaultyRequest) => { code: number; message: string }> = new Map(
  [
    [
      'unknown-tool',
      ({ params }) => ({ code: INVALID_PARAMS, message: `Unknown tool: ${String(member(params, 'name'))}` }),
    ],
    [
      'method-not-found',
      ({ method }) => ({ code: METHOD_NOT_FOUND, message: `Method not found: ${method}` }),
    ],
  ],
)

/** Refuses a request although the server has offered what it asks for. */
export const refuse: FaultKind = {
  name: 'refuse',
  help: 'Refuse what the server has offered: the tool is gone, or the method is not supported',
  expects: [...REFUSALS.keys()].join(', '),
  example: 'unknown-tool',
  affects: /^(?!initialize$)/,
  variants: [...REFUSALS.keys()].map(String),
  parse: (value) => {
    const refusal = REFUSALS.get(value)
    if (refusal === undefined) return undefined
    return {
      description:
        value === 'unknown-tool' ? 'names a tool that is gone' : 'has a method that is not supported',
      hidesResponse: true,
      apply: ({ id, request, reply }) => reply(responseText(id, { error: refusal(request) })),
    }
  },
}
