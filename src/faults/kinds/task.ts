import { INVALID_PARAMS, responseText } from '../../protocol/message.ts'
import { type Fault, type FaultKind, editResult } from '../fault.ts'

const FORMS: Readonly<Record<string, Omit<Fault, 'kind'>>> = {
  'never-ends': {
    description: 'reports that its task is still working',
    hidesResponse: true,
    apply: ({ play, reply }) =>
      play((text, source) => reply(text === undefined ? undefined : editResult(text, stillWorking), source)),
  },
  expired: {
    description: 'names a task that has expired',
    hidesResponse: true,
    apply: ({ id, request, play, reply }) => {
      if (!/^tasks\/(get|result|update|cancel)$/.test(request.method)) return play(reply)
      reply(responseText(id, { error: { code: INVALID_PARAMS, message: 'Task not found or expired' } }))
    },
  },
}

/** Changes the answers about tasks. Other requests are not affected. */
export const task: FaultKind = {
  name: 'task',
  help: 'Let a task never end, or expire early; other requests are not affected',
  expects: Object.keys(FORMS).join(', '),
  example: 'never-ends',
  affects: /^(tools\/call|tasks\/.*)$/,
  variants: Object.keys(FORMS),
  parse: (value) => (typeof value === 'string' && Object.hasOwn(FORMS, value) ? FORMS[value] : undefined),
}

function stillWorking(result: Readonly<Record<string, unknown>>): unknown {
  const nested = result['task']
  if (typeof result['taskId'] === 'string' && typeof result['status'] === 'string') {
    const { result: _result, error: _error, ...rest } = result
    return { ...rest, status: 'working' }
  }
  return typeof nested === 'object' && nested !== null
    ? { ...result, task: { ...nested, status: 'working' } }
    : result
}
