import { createDiffer } from '../diff/diff.ts'
import type { Difference } from '../diff/difference.ts'
import type { Turn } from '../tape/turn.ts'
import { member } from '../wire/message.ts'
import { formatPath } from '../wire/path.ts'
import type { Greeting } from './handshake.ts'

/** In what the live server introduces itself otherwise than the recorded one did, with the turns that opened the recorded conversations. Our own handshake is not judged, so that these are notes. */
export function greetingNotes({ version, result }: Greeting, openings: readonly Turn[]): readonly string[] {
  const then = openings.map(resultOf).find((one) => one !== undefined)
  if (then === undefined) return []
  const before = member(then, 'protocolVersion')
  return [
    ...(version === before ? [] : [`the server speaks ${String(version)}, recorded ${String(before)}`]),
    ...(serverName(result) === serverName(then)
      ? []
      : [`the server is ${serverName(result)}, recorded ${serverName(then)}`]),
    ...DIFFER.values(promisesOf(then), promisesOf(result)).slice(0, MOST).map(inWords),
  ]
}

const DIFFER = createDiffer({ order: 'kept' })

/** Of a server that is another one altogether, the first tell enough. */
const MOST = 5

function resultOf({ response }: Turn): unknown {
  return response?.message.kind === 'response' && 'result' in response.message.outcome
    ? response.message.outcome.result
    : undefined
}

function serverName(result: unknown): string {
  const info = member(result, 'serverInfo')
  return `${String(member(info, 'name'))} ${String(member(info, 'version'))}`
}

/** What a client may rely on. */
function promisesOf(result: unknown): unknown {
  const [capabilities, instructions] = [member(result, 'capabilities'), member(result, 'instructions')]
  return { capabilities: capabilities ?? {}, instructions: instructions ?? '' }
}

function inWords({ kind, path }: Difference): string {
  return `in its greeting the server has ${WORDS[kind]} ${formatPath(path)}; with --handshake recorded that counts`
}

const WORDS: Readonly<Record<Difference['kind'], string>> = {
  added: 'a new',
  removed: 'no longer',
  changed: 'another',
  type: 'another',
}
