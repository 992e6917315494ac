import { ReelayError } from '../errors.ts'
import { resolveTape } from '../store/home.ts'
import { parseServerFilter, type ServerFilter } from '../tape/server-filter.ts'

/** What the environment asks of this process. */
type Switches =
  | { readonly kind: 'off' }
  | {
      readonly kind: 'record' | 'replay'
      readonly tape: string
      readonly isMeant: ServerFilter
      /** A file for the real values behind stand-ins. */
      readonly vault: string | undefined
    }

/** Every variable that switches something on; a program that is recorded does not hand them on to its servers. */
export const SWITCH_VARIABLES = [
  'REELAY_RECORD',
  'REELAY_RECORD_SERVER',
  'REELAY_REPLAY',
  'REELAY_REPLAY_SERVER',
  'REELAY_RECORD_VAULT',
] as const

/** Reads the switches; an empty one is off. What contradicts itself is refused: nobody could say what was meant. */
export function readSwitches(env: NodeJS.ProcessEnv): Switches {
  const [record, recordServer, replay, replayServer, vault] = SWITCH_VARIABLES.map(
    (name) => env[name] || undefined,
  )
  if (record !== undefined && replay !== undefined) throw conflictingSwitches(record, replay)
  if (recordServer !== undefined && record === undefined) throw missingMainSwitch('REELAY_RECORD', 'SERVER')
  if (vault !== undefined && record === undefined) throw missingMainSwitch('REELAY_RECORD', 'VAULT')
  if (replayServer !== undefined && replay === undefined) throw missingMainSwitch('REELAY_REPLAY', 'SERVER')
  const tape = record ?? replay
  if (tape === undefined) return { kind: 'off' }
  resolveTape(tape, env) // says now what is wrong with the name
  return {
    kind: record === undefined ? 'replay' : 'record',
    tape,
    isMeant: parseServerFilter(recordServer ?? replayServer),
    vault,
  }
}

function conflictingSwitches(record: string, replay: string): ReelayError {
  const message = `REELAY_RECORD=${record} and REELAY_REPLAY=${replay} are both set`
  return new ReelayError('USAGE', message, { hint: 'unset one of them: a run is recorded or replayed' })
}

function missingMainSwitch(name: string, what: 'SERVER' | 'VAULT'): ReelayError {
  return new ReelayError('USAGE', `${name}_${what} is set and ${name} is not`, {
    hint: `set ${name}=<tape> too, or unset ${name}_${what}`,
  })
}
