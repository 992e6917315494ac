import { findRange, replaceValue } from '../../json/find-replace.ts'
import { type FaultKind, variantFault } from '../fault.ts'

/** Damages the response so that a client cannot use it. */
export const malformed: FaultKind = variantFault('malformed', 'Damage the response', {
  truncated: {
    description: 'is answered with half a message',
    change: (text) => text.slice(0, text.length >> 1),
  },
  'not-json': {
    description: 'is answered with text that is not JSON',
    change: () => 'Internal Server Error',
  },
  'wrong-id': {
    description: 'is answered under another id',
    change: (text) => replaceValue(text, ['id'], '"reelay-wrong-id"'),
  },
  'id-as-string': {
    description: 'is answered under its id as a string',
    change: (text) => {
      const range = findRange(text, ['id'])
      const id = range === undefined ? '' : text.slice(range.start, range.end)
      return replaceValue(text, ['id'], id.startsWith('"') ? '0' : JSON.stringify(id))
    },
  },
  'result-and-error': {
    description: 'is answered with a result and an error at once',
    change: (text) => withMember(text, '"error":{"code":-32603,"message":"injected"}'),
  },
  'error-without-code': {
    description: 'is answered with an error without a code',
    change: (text) => withoutOutcome(text, '"error":{"message":"injected"}'),
  },
  'no-result': {
    description: 'is answered with neither a result nor an error',
    change: (text) => withoutOutcome(text, undefined),
  },
  batch: {
    description: 'is answered with a batch',
    change: (text) => `[${text}]`,
  },
  'no-version': {
    description: 'is answered without "jsonrpc"',
    change: (text) => text.replace(/"jsonrpc"\s*:\s*"2\.0"\s*,?/, ''),
  },
})

/** Adds a member to an object. */
function withMember(text: string, added: string): string {
  const end = text.lastIndexOf('}')
  return end < 0 ? text : `${text.slice(0, end)},${added}${text.slice(end)}`
}

/** The same response with another outcome, or with none. */
function withoutOutcome(text: string, outcome: string | undefined): string {
  const range = findRange(text, ['id'])
  const id = range === undefined ? 'null' : text.slice(range.start, range.end)
  return `{"jsonrpc":"2.0","id":${id}${outcome === undefined ? '' : `,${outcome}`}}`
}
