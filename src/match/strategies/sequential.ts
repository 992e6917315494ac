import { methodAndParams } from './method-and-params.ts'
import type { Strategy } from './strategy.ts'

export const sequential: Strategy = {
  ...methodAndParams,
  name: 'sequential',
  about: 'the same method and params, and in the recorded order',
  inOrder: true,
}
