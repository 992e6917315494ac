import { distanceByRules } from '../comparable-request.ts'
import { comparedParams } from '../request-key.ts'
import type { Strategy } from './strategy.ts'

export const methodAndParams: Strategy = {
  name: 'method-and-params',
  about: 'the same method and the same params',
  paramsOf: comparedParams,
  groupOf: ({ text }) => text,
  distance: distanceByRules,
}
