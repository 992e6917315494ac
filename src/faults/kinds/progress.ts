import { member } from '../../json/parse.ts'
import { type FaultContext, type FaultKind, variantFault } from '../fault.ts'

type FaultyRequest = FaultContext<unknown>['request']

/** Sends progress notifications that break the rules of the protocol. A request without a progress token gets none. */
export const progress: FaultKind = variantFault('progress', 'Send progress that breaks the protocol', {
  backwards: {
    description: 'reports progress that goes backwards',
    before: (request) => progressOf(request, [50, 20, 10]),
    change: (text) => text,
    keepsResponse: true,
  },
  'above-total': {
    description: 'reports more progress than its total',
    before: (request) => progressOf(request, [50, 150, 1e9]),
    change: (text) => text,
    keepsResponse: true,
  },
  'after-response': {
    description: 'reports progress after the response',
    before: () => [], // sends messages of its own
    change: (text, request) => [text, ...progressOf(request, [99])],
    keepsResponse: true,
  },
  'unknown-token': {
    description: 'reports progress of a request that does not exist',
    before: () => [notification('reelay-unknown-token', 10)],
    change: (text) => text,
    keepsResponse: true,
  },
})

function progressOf(request: FaultyRequest, steps: readonly number[]): readonly string[] {
  const token = member(member(request.params, '_meta'), 'progressToken')
  return token === undefined ? [] : steps.map((step) => notification(token, step))
}

function notification(progressToken: unknown, step: number): string {
  const params = { progressToken, progress: step, total: 100 }
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })
}
