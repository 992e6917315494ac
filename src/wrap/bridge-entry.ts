import { bridgeEnv, type BridgeEnv } from './bridge-env.ts'
import type { ConfigFormat, Entry, Member } from './config-format.ts'
import type { Edit } from './edit.ts'
import type { Piece } from './entry-edits.ts'
import { edited, named, placeOf, without, type Pair } from './member-edits.ts'
import { remoteEntry, type RemoteEntry } from './remote-entry.ts'
import type { Recorder } from './wrapped-command.ts'

export interface BridgeRequest {
  readonly text: string
  readonly entry: Entry
  readonly format: ConfigFormat
  readonly recorder: Recorder
  readonly tape: string
}

/**
 * The change that puts a bridge in the place of a `url`. Headers become variables of the environment, with their values as
 * they are spelled: what the client expands there still expands, and no token stands among the args. Says why when it cannot.
 */
export function bridgePiece(request: BridgeRequest): Piece | string {
  const { text, entry, format } = request
  const remote = remoteEntry(entry, format)
  if (typeof remote === 'string') return remote
  const { span, members, url, spent } = remote
  const env = bridgeEnv(text, remote, format)
  const edits = [
    { ...url.whole, text: format.members(text, url, commandMembers(request, remote, env)) },
    ...typeEdits(members, format),
    ...without(text, members, [...spent, ...env.spent]),
    ...env.edits,
  ]
  return { at: 'entry', was: text.slice(span.start, span.end), now: edited(text, span, edits) }
}

function commandMembers(request: BridgeRequest, remote: RemoteEntry, env: BridgeEnv): readonly Pair[] {
  const { format, recorder } = request
  const { token, variables } = remote
  const passed = [...(token === undefined ? [] : [token]), ...variables.map(({ variable }) => variable)]
  return [
    ['command', format.spell(recorder.node)],
    ['args', listOf(argsFor(request, remote, env))],
    ...env.members,
    // Codex hands only the variables on to a command that it is told to.
    ...(passed.length === 0 ? [] : [['env_vars', listOf([...new Set(passed)].map(format.spell))] as const]),
  ]
}

function argsFor(
  { text, entry, format, recorder, tape }: BridgeRequest,
  { url, headers, variables, token }: RemoteEntry,
  env: BridgeEnv,
): readonly string[] {
  const words = [
    ...headers.flatMap(({ name }, at) => ['--header-env', `${name}=${env.headers[at]?.[0]}`]),
    // As in Codex, a header whose variable is not there is not sent.
    ...variables.flatMap(({ name, variable }) => ['--header-env', `${name}=${variable}?`]),
    ...(token === undefined ? [] : ['--header', `Authorization: Bearer \${env.${token}}`]),
    tape,
  ]
  const where =
    env.url === undefined
      ? [format.spell('--url'), text.slice(url.value.start, url.value.end)]
      : ['--url-env', env.url[0]].map(format.spell)
  const start = [recorder.program, 'record', '--bridge', '--server', entry.server]
  return [...start.map(format.spell), ...where, ...words.map(format.spell)]
}

function listOf(words: readonly string[]): string {
  return `[${words.join(', ')}]`
}

function typeEdits(members: readonly Member[], { spell }: ConfigFormat): readonly Edit[] {
  const type = named(members, 'type')
  return type === undefined ? [] : [{ ...placeOf(type.value), text: spell('stdio') }]
}
