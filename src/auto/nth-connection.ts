import { ReelayError } from '../errors.ts'
import type { Tape } from '../store/file/read.ts'
import { firstMessageOf } from '../serve/recorded-sessions.ts'
import type { ServerOnTape } from './server-lookup.ts'

/** The part of the tape that was recorded when the server was started for the nth time. */
export function nthConnection({ tape, server }: ServerOnTape, conn: number): ServerOnTape {
  // Over HTTP a connection may be a single exchange, and what is played over pipes is all of them.
  if (tape.header.servers[server]?.transport === 'http') return { tape, server }
  const ofServer = tape.turns.filter((turn) => firstMessageOf(turn)?.server === server)
  const recorded = ofServer.reduce((most, turn) => Math.max(most, firstMessageOf(turn)?.conn ?? 0), 0)
  if (conn > Math.max(recorded, 1)) throw startedTooOften(tape, server, recorded)
  return { tape: { ...tape, turns: ofServer.filter((turn) => firstMessageOf(turn)?.conn === conn) }, server }
}

function startedTooOften({ path }: Tape, server: string, recorded: number): ReelayError {
  const often = recorded === 1 ? 'once' : `${recorded} times`
  const message = `the server ${server} was started ${often} on ${path}, and now once more`
  return new ReelayError('REPLAY_DRIFT', message, { hint: 'record the run again, as it is now' })
}
