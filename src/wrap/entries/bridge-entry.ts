import { planBridgeEnv, type BridgeEnv } from '../bridge-env.ts'
import type { ConfigFormat, ConfigEntry, ConfigMember } from '../configs/config-format.ts'
import type { ConfigEdit } from '../configs/config-edits.ts'
import type { ReversibleEdit } from '../entry-edits.ts'
import {
  applyEditsInRange,
  findConfigMember,
  configRangeOf,
  removeConfigMembers,
  type FormattedPair,
} from '../member-edits.ts'
import { readRemoteEntry, type RemoteEntry } from './remote-entry.ts'
import type { RecorderProgram } from './command-entry.ts'

export interface BridgeEditRequest {
  readonly text: string
  readonly entry: ConfigEntry
  readonly format: ConfigFormat
  readonly recorder: RecorderProgram
  readonly tape: string
}

/**
 * The change that puts a bridge in the place of a `url`. Headers become variables of the environment, with their values as
 * they are spelled: what the client expands there still expands, and no token stands among the args. Says why when it cannot.
 */
export function bridgeEdit(request: BridgeEditRequest): ReversibleEdit | string {
  const { text, entry, format } = request
  const remote = readRemoteEntry(entry, format)
  if (typeof remote === 'string') return remote
  const { span, members, url, obsoleteMembers } = remote
  const env = planBridgeEnv(text, remote, format)
  const edits = [
    { ...url.whole, text: format.formatMembers(text, url, commandMembers(request, remote, env)) },
    ...editTypeMember(members, format),
    ...removeConfigMembers(text, members, [...obsoleteMembers, ...env.obsoleteMembers]),
    ...env.edits,
  ]
  return { at: 'entry', was: text.slice(span.start, span.end), now: applyEditsInRange(text, span, edits) }
}

function commandMembers(
  request: BridgeEditRequest,
  remote: RemoteEntry,
  env: BridgeEnv,
): readonly FormattedPair[] {
  const { format, recorder } = request
  const { token, variables } = remote
  const passed = [...(token === undefined ? [] : [token]), ...variables.map(({ variable }) => variable)]
  return [
    ['command', format.quote(recorder.node)],
    ['args', formatList(formatBridgeArgs(request, remote, env))],
    ...env.members,
    // Codex hands only the variables on to a command that it is told to.
    ...(passed.length === 0
      ? []
      : [['env_vars', formatList([...new Set(passed)].map(format.quote))] as const]),
  ]
}

function formatBridgeArgs(
  { text, entry, format, recorder, tape }: BridgeEditRequest,
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
      ? [format.quote('--url'), text.slice(url.value.start, url.value.end)]
      : ['--url-env', env.url[0]].map(format.quote)
  const start = [recorder.program, 'record', '--bridge', '--server', entry.server]
  return [...start.map(format.quote), ...where, ...words.map(format.quote)]
}

function formatList(words: readonly string[]): string {
  return `[${words.join(', ')}]`
}

function editTypeMember(members: readonly ConfigMember[], { quote }: ConfigFormat): readonly ConfigEdit[] {
  const type = findConfigMember(members, 'type')
  return type === undefined ? [] : [{ ...configRangeOf(type.value), text: quote('stdio') }]
}
