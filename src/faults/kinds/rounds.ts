import { type FaultKind, editResult, variantFault } from '../fault.ts'

/** Changes the `requestState` that a client has to send back with its input. Other results are not affected. */
export const rounds: FaultKind = variantFault(
  'rounds',
  'Change the state of a request that needs input; other requests are not affected',
  {
    'stale-state': {
      description: 'gets a state that the server does not know any more',
      change: (text) => editState(text, () => ({ requestState: 'reelay-stale-state' })),
    },
    'no-state': {
      description: 'gets no state to send back',
      change: (text) => editState(text, () => ({})),
    },
  },
  /^(tools\/call|prompts\/get|resources\/read)$/,
)

function editState(text: string, state: () => object): string {
  return editResult(text, (result) => {
    if (typeof result['requestState'] !== 'string') return result
    const { requestState: _state, ...rest } = result
    return { ...rest, ...state() }
  })
}
