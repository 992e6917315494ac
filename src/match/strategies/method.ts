import { formDiff } from '../form-diff.ts'
import { nameOf } from '../../wire/name.ts'
import { methodAndParams } from './method-and-params.ts'
import type { Strategy } from './strategy.ts'

export const method: Strategy = {
  ...methodAndParams,
  name: 'method',
  about: 'the same method, with any params',
  isLoose: true,
  nearestAmong: 200,
  groupOf: () => null,
  // Any call of the same tool is nearer than a call of another.
  distance: (recorded, live, times) =>
    formDiff(recorded, live, times).distance + (nameOf(recorded.asked) === nameOf(live.asked) ? 0 : 1),
}
