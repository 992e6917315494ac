import { ReelayError } from '../errors.ts'
import { resolveTape } from '../store/home.ts'
import { escapeControlChars } from '../text.ts'
import { parseServerFilter, type ServerFilter } from '../tape/server-filter.ts'

/** The mode of this process, according to its environment. */
type Switches =
  | { readonly kind: 'off' }
  | {
      readonly kind: 'record' | 'replay'
      readonly tape: string
      readonly isMeant: ServerFilter
      /** A file for the real values of placeholders. */
      readonly vault: string | undefined
    }

/** The environment variables that are switches. A recorded program does not pass them on to its servers. */
export const SWITCH_VARIABLES = [
  'REELAY_RECORD',
  'REELAY_RECORD_SERVER',
  'REELAY_REPLAY',
  'REELAY_REPLAY_SERVER',
  'REELAY_RECORD_VAULT',
  'MCPORTER_RECORD',
  'MCPORTER_REPLAY',
] as const

/** Set by `reelay run` if it records the servers that programs start by name. */
export const SHIMS_VARIABLE = 'REELAY_RUN_SHIMS'
/** Set for a server that its client, a Node program, records itself. */
export const RECORDED_VARIABLE = 'REELAY_RUN_RECORDED'

/** Reads the switches. An empty variable counts as unset. Contradictory switches are an error. */
export function readSwitches(env: NodeJS.ProcessEnv): Switches {
  const [record, recordServer, replay, replayServer, vault] = SWITCH_VARIABLES.map(
    (name) => env[name] || undefined,
  )
  if (record !== undefined && replay !== undefined) throw conflictingSwitches(record, replay)
  if (recordServer !== undefined && record === undefined) throw missingMainSwitch('REELAY_RECORD', 'SERVER')
  if (vault !== undefined && record === undefined) throw missingMainSwitch('REELAY_RECORD', 'VAULT')
  if (replayServer !== undefined && replay === undefined) throw missingMainSwitch('REELAY_REPLAY', 'SERVER')
  const tape = record ?? replay
  if (tape === undefined) return readMcporterSwitches(env)
  resolveTape(tape, env) // throws if the name is invalid
  return {
    kind: record === undefined ? 'replay' : 'record',
    tape,
    isMeant: parseServerFilter(recordServer ?? replayServer),
    vault,
  }
}

/** The variables of mcporter record and replay all servers. Those of Reelay override them. */
function readMcporterSwitches(env: NodeJS.ProcessEnv): Switches {
  const named = mcporterTape(env)
  if (named === undefined) return { kind: 'off' }
  const { kind, tape, variable } = named
  resolveTape(tape, env)
  process.stderr.write(
    `reelay: ${variable}=${escapeControlChars(tape)} is read as REELAY_${kind.toUpperCase()}=${escapeControlChars(tape)}\n`,
  )
  return { kind, tape, isMeant: parseServerFilter(undefined), vault: undefined }
}

/** The recording that a variable of mcporter names. */
export function mcporterTape(env: NodeJS.ProcessEnv):
  | {
      readonly kind: 'record' | 'replay'
      readonly tape: string
      readonly variable: string
    }
  | undefined {
  const { MCPORTER_RECORD: record = '', MCPORTER_REPLAY: replay = '' } = env
  if (record !== '' && replay !== '') throw conflictingSwitches(record, replay, 'MCPORTER')
  if (record !== '') return { kind: 'record', tape: record, variable: 'MCPORTER_RECORD' }
  return replay === '' ? undefined : { kind: 'replay', tape: replay, variable: 'MCPORTER_REPLAY' }
}

function conflictingSwitches(record: string, replay: string, prefix = 'REELAY'): ReelayError {
  const message = `${prefix}_RECORD=${record} and ${prefix}_REPLAY=${replay} are both set`
  return new ReelayError('USAGE', message, {
    hint: 'unset one of them: a run is either recorded or replayed',
  })
}

function missingMainSwitch(name: string, what: 'SERVER' | 'VAULT'): ReelayError {
  return new ReelayError('USAGE', `${name}_${what} is set, but ${name} is not`, {
    hint: `set ${name}=<tape> too, or unset ${name}_${what}`,
  })
}
