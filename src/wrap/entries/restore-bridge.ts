import { parseBridgeArgs, type ParsedBridgeArgs } from '../bridge-words.ts'
import type { ConfigFormat, ConfigEntry, ConfigMember } from '../configs/config-format.ts'
import type { ConfigEdit } from '../configs/config-edits.ts'
import { restoreEnv } from '../env-back.ts'
import { findConfigMember, configRangeOf, removeConfigMembers, type FormattedPair } from '../member-edits.ts'
import { BEARER_TOKEN_KEY, HEADER_VARIABLES_KEY } from './remote-entry.ts'

export interface BridgeRestoreRequest {
  readonly text: string
  readonly entry: ConfigEntry
  readonly format: ConfigFormat
  /** What the entry was, if that is remembered. */
  readonly was: string | undefined
}

/** Takes a bridge out by what its words mean; undefined when they no longer say where the server is. */
export function inferBridgeUnwrapEdits(back: BridgeRestoreRequest): readonly ConfigEdit[] | undefined {
  const { text, entry, format, was = '' } = back
  const { members, link } = entry
  const [command, args] = [findConfigMember(members, 'command'), findConfigMember(members, 'args')]
  if (command === undefined || args === undefined || link.kind !== 'command') return undefined
  const words = parseBridgeArgs(link.args?.items ?? [])
  const env = restoreEnv(back, words)
  const url = words.url ?? env.url
  if (url === undefined) return undefined
  const key = /(httpUrl|serverUrl|url)["']?\s*[:=]/.exec(was)?.[1] ?? 'url'
  const now: readonly FormattedPair[] = [
    [key, text.slice(url.start, url.end)],
    ...formatInlineTable(format, format.headersKey, env.headers),
    ...restoreVariables(words, format),
  ]
  return [
    { ...command.whole, text: format.formatMembers(text, command, now) },
    ...removeConfigMembers(text, members, [args, ...env.spent]),
    ...env.edits,
    ...restoreType(members, was, format),
    ...restoreEnvVars(back, words),
  ]
}

function formatInlineTable(
  { formatPair }: ConfigFormat,
  key: string,
  pairs: readonly FormattedPair[],
): readonly FormattedPair[] {
  if (pairs.length === 0) return []
  return [[key, `{ ${pairs.map(([name, value]) => formatPair(name, value)).join(', ')} }`]]
}

function restoreVariables(
  { variables, token }: ParsedBridgeArgs,
  format: ConfigFormat,
): readonly FormattedPair[] {
  const pairs = variables.map(({ name, variable }) => [name, format.quote(variable)] as const)
  return [
    ...formatInlineTable(format, HEADER_VARIABLES_KEY, pairs),
    ...(token === undefined ? [] : [[BEARER_TOKEN_KEY, format.quote(token)] as const]),
  ]
}

function restoreType(
  members: readonly ConfigMember[],
  was: string,
  { quote }: ConfigFormat,
): readonly ConfigEdit[] {
  const type = findConfigMember(members, 'type')
  const before = /type["']?\s*[:=]\s*["']([^"']+)/.exec(was)?.[1] ?? 'http'
  return type === undefined ? [] : [{ ...configRangeOf(type.value), text: quote(before) }]
}

/** The variables that a bridge was handed on need not be named any more; others stay. */
function restoreEnvVars(
  { text, entry }: BridgeRestoreRequest,
  { variables, token }: ParsedBridgeArgs,
): readonly ConfigEdit[] {
  const passed = findConfigMember(entry.members, 'env_vars')
  if (passed === undefined) return []
  const ours = new Set([token, ...variables.map(({ variable }) => variable)])
  const spelled = text.slice(passed.value.start, passed.value.end).match(/"[^"]*"|'[^']*'/g) ?? []
  const others = spelled.filter((word) => !ours.has(word.slice(1, -1)))
  if (others.length === 0) return removeConfigMembers(text, entry.members, [passed])
  return [{ ...configRangeOf(passed.value), text: `[${others.join(', ')}]` }]
}
