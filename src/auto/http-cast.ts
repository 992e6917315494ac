import type { Tape } from '../store/file/read.ts'
import type { Turn } from '../tape/turn.ts'
import { HANDSHAKE_METHODS } from '../protocol/methods.ts'
import { firstMessageOf } from '../serve/recorded-sessions.ts'
import type { ServerOnTape } from './server-lookup.ts'

/** A handshake that the recorded server turned down by its HTTP status. */
interface RecordedRefusal {
  readonly method: string
  readonly status: number
  readonly text: string
}

/** A server's part of a tape, as clients over HTTP ask for it. */
export interface RecordedHttpSessions {
  /** What was said in each session, in the order in which they began. */
  readonly sessions: (readonly Turn[])[]
  /** What was said outside of a session: everything, in the modern era. */
  readonly sessionless: readonly Turn[]
  readonly refusals: RecordedRefusal[]
}

export function recordedHttpSessions({ tape, server }: ServerOnTape): RecordedHttpSessions {
  const turns = tape.turns.filter((turn) => firstMessageOf(turn)?.server === server)
  const refused = turns.flatMap((turn) => refusalOf(tape, turn))
  const told = turns.filter((turn) => !refused.some((refusal) => refusal.turn === turn))
  const conns = new Set(told.map((turn) => firstMessageOf(turn)?.conn))
  const ofConn = (conn: number | undefined): readonly Turn[] =>
    told.filter((turn) => firstMessageOf(turn)?.conn === conn)
  const sessions = [...conns].map(ofConn).filter(isRecordedSession)
  return {
    sessions,
    sessionless: told.filter((turn) => !sessions.some((session) => session.includes(turn))),
    refusals: refused.map(({ refusal }) => refusal),
  }
}

// Without a session each exchange is a connection of its own, so more than one turn makes a session.
function isRecordedSession(turns: readonly Turn[]): boolean {
  return turns.length > 1 && turns.some((turn) => methodOf(turn) === 'initialize')
}

function refusalOf(tape: Tape, turn: Turn): { turn: Turn; refusal: RecordedRefusal }[] {
  const [x, method] = [turn.trigger?.x, methodOf(turn)]
  if (x === undefined || method === undefined || !HANDSHAKE_METHODS.has(method)) return []
  const head = tape.rest.find((frame) => frame.kind === 'http' && frame.x === x && 'status' in frame.http)
  const status = head?.kind === 'http' && 'status' in head.http ? head.http.status : 200
  if (status < 400) return []
  const text = turn.response?.text ?? tape.strays.find((stray) => stray.x === x)?.text ?? ''
  return [{ turn, refusal: { method, status, text } }]
}

function methodOf({ trigger }: Turn): string | undefined {
  return trigger?.message.kind === 'request' ? trigger.message.method : undefined
}
