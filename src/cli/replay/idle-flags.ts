import { ReelayError } from '../../errors.ts'
import type { ReplayFlags } from '../options/replay-options.ts'

/** Refuses options that would have no effect without another one: whoever gives them expects one. */
export function rejectFlagsWithoutEffect(flags: ReplayFlags): void {
  for (const { option, name, needs, isThere } of FLAG_DEPENDENCIES)
    if (flags[name] !== undefined && !isThere(flags))
      throw new ReelayError('USAGE', `${option} has no effect without ${needs}`, {
        hint: `give ${needs} too, or leave ${option} out`,
      })
}

interface FlagDependency {
  readonly option: string
  readonly name: keyof ReplayFlags
  readonly needs: string
  readonly isThere: (flags: ReplayFlags) => boolean
}

const FLAG_DEPENDENCIES: readonly FlagDependency[] = [
  { option: '--header', name: 'header', needs: '--url', isThere: ({ url }) => url !== undefined },
  { option: '--sse', name: 'sse', needs: '--url', isThere: ({ url }) => url !== undefined },
  {
    option: '--priority',
    name: 'priority',
    needs: '--order priority',
    isThere: ({ order }) => order === 'priority',
  },
  { option: '--seed', name: 'seed', needs: '--order random', isThere: ({ order }) => order === 'random' },
  {
    option: '--inject-errors',
    name: 'injectErrors',
    needs: '--inject',
    isThere: ({ inject }) => inject !== undefined,
  },
  {
    option: '--inject-seed',
    name: 'injectSeed',
    needs: '--inject',
    isThere: ({ inject }) => inject !== undefined,
  },
]
