import { suggestName } from '../../text.ts'
import { ReelayError } from '../../errors.ts'
import { exact } from './exact.ts'
import { methodAndParams } from './method-and-params.ts'
import { method } from './method.ts'
import { next } from './next.ts'
import { sequential } from './sequential.ts'
import type { Strategy } from './strategy.ts'
import { subset } from './subset.ts'

/** All strategies, the default first. */
export const STRATEGIES: readonly Strategy[] = [methodAndParams, exact, method, subset, sequential, next]

/** Finds a strategy by name. Accepts aliases such as `fuzzy`, and underscores as in `method_and_params`. */
export function findStrategy(name: string): Strategy {
  const spelled = name.toLowerCase().replaceAll('_', '-')
  const found = STRATEGIES.find((strategy) => strategy.name === spelled || strategy.alias === spelled)
  if (found !== undefined) return found
  const known = STRATEGIES.map((strategy) => strategy.name)
  throw new ReelayError(
    'USAGE',
    `unknown matching strategy ${JSON.stringify(name)}${suggestName(spelled, known)}`,
    {
      hint: `the strategies are: ${known.join(', ')}`,
    },
  )
}
