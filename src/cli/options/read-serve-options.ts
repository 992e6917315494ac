import { ReelayError } from '../../errors.ts'
import type { ClientAnswerPolicy } from '../../serve/player/server-requests.ts'
import { parseFaultRules, type FaultRule } from '../../serve/faults/fault-rules.ts'
import { parseOverrides, type Override } from '../../serve/overrides.ts'
import type { ServeOptions } from '../../serve/serve-options.ts'
import { readRuleFile } from '../../serve/rule-file.ts'
import type { ClockFlag } from '../clock-flag.ts'

/** How a tape is to be played, as the command line says it. */
export interface PlayFlags {
  readonly pace?: ServeOptions['pace']
  readonly paceCap?: number
  readonly order?: 'any' | 'recorded'
  readonly onClientAnswer?: ClientAnswerPolicy
  readonly override?: string
  readonly faults?: string
  readonly seed?: number
  readonly clock?: ClockFlag
}

/** The options that the flags stand for; files are read now. */
export async function readPlayFlags(flags: PlayFlags): Promise<Partial<ServeOptions>> {
  const { pace, paceCap, order, onClientAnswer, override, faults, seed } = flags
  if (paceCap !== undefined && pace === undefined)
    throw new ReelayError('USAGE', '--pace-cap bounds the waits of a pace, and there is none', {
      hint: 'add --pace recorded',
    })
  return {
    ...(pace !== undefined && { pace }),
    ...(paceCap !== undefined && { paceCap }),
    ...(order && { order }),
    ...(onClientAnswer && { onClientAnswer }),
    ...(override !== undefined && { overrides: await readOverridesFile(override) }),
    ...(faults !== undefined && { faults: await readFaultsFile(faults) }),
    ...(seed !== undefined && { seed }),
  }
}

export async function readFaultsFile(path: string): Promise<readonly FaultRule[]> {
  const { value, place } = await readRuleFile(path)
  return parseFaultRules(value, place)
}

async function readOverridesFile(path: string): Promise<readonly Override[]> {
  const { value, place } = await readRuleFile(path)
  return parseOverrides(value, place)
}
