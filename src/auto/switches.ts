import { ReelayError } from '../errors.ts'
import { resolveTape } from '../store/home.ts'
import { serverFilter, type ServerFilter } from '../tape/server-filter.ts'

/** What the environment asks of this process. */
export type Switches =
  | { readonly kind: 'off' }
  | { readonly kind: 'record' | 'replay'; readonly tape: string; readonly isMeant: ServerFilter }

/** Every variable that switches something on; a program that is recorded does not hand them on to its servers. */
export const SWITCHES = [
  'REELAY_RECORD',
  'REELAY_RECORD_SERVER',
  'REELAY_REPLAY',
  'REELAY_REPLAY_SERVER',
] as const

/** Reads the switches; an empty one is off. What contradicts itself is refused: nobody could say what was meant. */
export function readSwitches(env: NodeJS.ProcessEnv): Switches {
  const [record, recordServer, replay, replayServer] = SWITCHES.map((name) => env[name] || undefined)
  if (record !== undefined && replay !== undefined) throw bothSet(record, replay)
  if (recordServer !== undefined && record === undefined) throw filterAlone('REELAY_RECORD')
  if (replayServer !== undefined && replay === undefined) throw filterAlone('REELAY_REPLAY')
  const tape = record ?? replay
  if (tape === undefined) return { kind: 'off' }
  resolveTape(tape, env) // says now what is wrong with the name
  return {
    kind: record === undefined ? 'replay' : 'record',
    tape,
    isMeant: serverFilter(recordServer ?? replayServer),
  }
}

function bothSet(record: string, replay: string): ReelayError {
  const message = `REELAY_RECORD=${record} and REELAY_REPLAY=${replay} are both set`
  return new ReelayError('USAGE', message, { hint: 'unset one of them: a run is recorded or replayed' })
}

function filterAlone(name: string): ReelayError {
  return new ReelayError('USAGE', `${name}_SERVER is set and ${name} is not`, {
    hint: `set ${name}=<tape> too, or unset ${name}_SERVER`,
  })
}
