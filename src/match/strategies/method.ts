import { diffRequests } from '../comparable-request.ts'
import { toolOrPromptName } from '../../protocol/message.ts'
import { methodAndParams } from './method-and-params.ts'
import type { Strategy } from './strategy.ts'

export const method: Strategy = {
  ...methodAndParams,
  name: 'method',
  about: 'the same method, with any params',
  isLoose: true,
  nearestAmong: 200,
  groupOf: () => null,
  // Any call of the same tool is nearer than a call of another tool.
  distance: (recorded, live, times) =>
    diffRequests(recorded, live, times).distance +
    (toolOrPromptName(recorded.request) === toolOrPromptName(live.request) ? 0 : 1),
}
