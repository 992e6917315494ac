import { bridgeWords, type BridgeWords } from './bridge-words.ts'
import type { ConfigFormat, Entry, Member } from './config-format.ts'
import type { Edit } from './edit.ts'
import { envBack } from './env-back.ts'
import { named, placeOf, without, type Pair } from './member-edits.ts'
import { TOKEN_KEY, VARIABLES_KEY } from './remote-entry.ts'

export interface BridgeBack {
  readonly text: string
  readonly entry: Entry
  readonly format: ConfigFormat
  /** What the entry was, if that is remembered. */
  readonly was: string | undefined
}

/** Takes a bridge out by what its words mean; undefined when they no longer say where the server is. */
export function bridgeEditsByMeaning(back: BridgeBack): readonly Edit[] | undefined {
  const { text, entry, format, was = '' } = back
  const { members, link } = entry
  const [command, args] = [named(members, 'command'), named(members, 'args')]
  if (command === undefined || args === undefined || link.kind !== 'command') return undefined
  const words = bridgeWords(link.args?.items ?? [])
  const env = envBack(back, words)
  const url = words.url ?? env.url
  if (url === undefined) return undefined
  const key = /(httpUrl|serverUrl|url)["']?\s*[:=]/.exec(was)?.[1] ?? 'url'
  const now: readonly Pair[] = [
    [key, text.slice(url.start, url.end)],
    ...tableOf(format, format.headersKey, env.headers),
    ...variablesBack(words, format),
  ]
  return [
    { ...command.whole, text: format.members(text, command, now) },
    ...without(text, members, [args, ...env.spent]),
    ...env.edits,
    ...typeBack(members, was, format),
    ...envVarsBack(back, words),
  ]
}

function tableOf({ pair }: ConfigFormat, key: string, pairs: readonly Pair[]): readonly Pair[] {
  if (pairs.length === 0) return []
  return [[key, `{ ${pairs.map(([name, value]) => pair(name, value)).join(', ')} }`]]
}

function variablesBack({ variables, token }: BridgeWords, format: ConfigFormat): readonly Pair[] {
  const pairs = variables.map(({ name, variable }) => [name, format.spell(variable)] as const)
  return [
    ...tableOf(format, VARIABLES_KEY, pairs),
    ...(token === undefined ? [] : [[TOKEN_KEY, format.spell(token)] as const]),
  ]
}

function typeBack(members: readonly Member[], was: string, { spell }: ConfigFormat): readonly Edit[] {
  const type = named(members, 'type')
  const before = /type["']?\s*[:=]\s*["']([^"']+)/.exec(was)?.[1] ?? 'http'
  return type === undefined ? [] : [{ ...placeOf(type.value), text: spell(before) }]
}

/** The variables that a bridge was handed on need not be named any more; others stay. */
function envVarsBack({ text, entry }: BridgeBack, { variables, token }: BridgeWords): readonly Edit[] {
  const passed = named(entry.members, 'env_vars')
  if (passed === undefined) return []
  const ours = new Set([token, ...variables.map(({ variable }) => variable)])
  const spelled = text.slice(passed.value.start, passed.value.end).match(/"[^"]*"|'[^']*'/g) ?? []
  const others = spelled.filter((word) => !ours.has(word.slice(1, -1)))
  if (others.length === 0) return without(text, entry.members, [passed])
  return [{ ...placeOf(passed.value), text: `[${others.join(', ')}]` }]
}
