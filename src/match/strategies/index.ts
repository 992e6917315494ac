import { ReelayError } from '../../errors.ts'
import { exact } from './exact.ts'
import { methodAndParams } from './method-and-params.ts'
import { method } from './method.ts'
import { sequential } from './sequential.ts'
import type { Strategy } from './strategy.ts'
import { subset } from './subset.ts'

/** Every way to match, the default first. */
export const STRATEGIES: readonly Strategy[] = [methodAndParams, exact, method, subset, sequential]

/** The strategy of that name, in any spelling that users know: `method_and_params`, `fuzzy`. */
export function findStrategy(name: string): Strategy {
  const spelled = name.toLowerCase().replaceAll('_', '-')
  const found = STRATEGIES.find((strategy) => strategy.name === spelled || strategy.alias === spelled)
  if (found !== undefined) return found
  const known = STRATEGIES.map((strategy) => strategy.name).join(', ')
  throw new ReelayError('USAGE', `there is no matching strategy ${JSON.stringify(name)}`, {
    hint: `the strategies are: ${known}`,
  })
}
