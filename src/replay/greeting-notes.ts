import { createDiffer } from '../diff/diff.ts'
import type { Difference } from '../diff/difference.ts'
import type { Turn } from '../tape/turn.ts'
import { member } from '../protocol/message.ts'
import { formatPath } from '../json/path.ts'
import type { HandshakeResult } from './session/handshake.ts'

/** In what the live server introduces itself otherwise than the recorded one did, with the turns that opened the recorded conversations. Our own handshake is not judged, so that these are notes. */
export function handshakeNotes(
  { version, result }: HandshakeResult,
  openings: readonly Turn[],
): readonly string[] {
  const then = openings.map(recordedResult).find((one) => one !== undefined)
  if (then === undefined) return []
  const before = member(then, 'protocolVersion')
  return [
    ...(version === before ? [] : [`the server speaks ${String(version)}, recorded ${String(before)}`]),
    ...(serverName(result) === serverName(then)
      ? []
      : [`the server is ${serverName(result)}, recorded ${serverName(then)}`]),
    ...DIFFER.values(announcedFeatures(then), announcedFeatures(result))
      .slice(0, MAX_HANDSHAKE_NOTES)
      .map(describeChange),
  ]
}

const DIFFER = createDiffer({ order: 'kept' })

/** Of a server that is another one altogether, the first tell enough. */
const MAX_HANDSHAKE_NOTES = 5

function recordedResult({ response }: Turn): unknown {
  return response?.message.kind === 'response' && 'result' in response.message.outcome
    ? response.message.outcome.result
    : undefined
}

function serverName(result: unknown): string {
  const info = member(result, 'serverInfo')
  return `${String(member(info, 'name'))} ${String(member(info, 'version'))}`
}

/** What a client may rely on. */
function announcedFeatures(result: unknown): unknown {
  const [capabilities, instructions] = [member(result, 'capabilities'), member(result, 'instructions')]
  return { capabilities: capabilities ?? {}, instructions: instructions ?? '' }
}

function describeChange({ kind, path }: Difference): string {
  return `in its greeting the server has ${CHANGE_WORDS[kind]} ${formatPath(path)}; with --handshake recorded that counts`
}

const CHANGE_WORDS: Readonly<Record<Difference['kind'], string>> = {
  added: 'a new',
  removed: 'no longer',
  changed: 'another',
  type: 'another',
}
