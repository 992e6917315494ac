import { member } from '../wire/message.ts'
import type { Greeting } from './handshake.ts'
import { turnsAt } from './landmarks.ts'
import type { ServerPart } from './one-server.ts'

/** What is another than it was, as the server says in its greeting. */
export function greetingNotes(
  { version, result }: Greeting,
  { turns, landmarks }: Pick<ServerPart, 'turns' | 'landmarks'>,
): readonly string[] {
  const openings = turnsAt(turns, landmarks.handshakes)
  const recorded = openings.find(
    ({ trigger }) => member(trigger?.message, 'method') === 'initialize',
  )?.response
  const then =
    recorded?.message.kind === 'response' && 'result' in recorded.message.outcome
      ? recorded.message.outcome.result
      : undefined
  if (then === undefined) return []
  const before = member(then, 'protocolVersion')
  return [
    ...(version === before ? [] : [`the server speaks ${String(version)}, recorded ${String(before)}`]),
    ...(serverName(result) === serverName(then)
      ? []
      : [`the server is ${serverName(result)}, recorded ${serverName(then)}`]),
  ]
}

function serverName(result: unknown): string {
  const info = member(result, 'serverInfo')
  return `${String(member(info, 'name'))} ${String(member(info, 'version'))}`
}
