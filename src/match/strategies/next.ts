import { methodAndParams } from './method-and-params.ts'
import type { Strategy } from './strategy.ts'

export const next: Strategy = {
  ...methodAndParams,
  name: 'next',
  about: 'nothing: every request gets the next recorded response',
  inOrder: true,
  ignoresRequest: true,
  isLoose: true,
  groupOf: () => null,
  distance: () => 0,
}
