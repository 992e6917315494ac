import { named, placeOf, renamed, variableOf } from './bridge-entry.ts'
import type { ConfigFormat, Entry, Member, Word } from './config-format.ts'
import type { Edit } from './edit.ts'

export interface BridgeBack {
  readonly text: string
  readonly entry: Entry
  readonly format: ConfigFormat
  /** What the entry was, if that is remembered. */
  readonly was: string | undefined
}

/** Takes a bridge out by what its words mean; undefined when they no longer stand together. */
export function bridgeEditsByMeaning(back: BridgeBack): readonly Edit[] | undefined {
  const { text, entry, format, was = '' } = back
  const { members, link } = entry
  const [command, args] = [named(members, ['command']), named(members, ['args'])]
  if (command === undefined || args === undefined || link.kind !== 'command') return undefined
  if (members.indexOf(args) !== members.indexOf(command) + 1) return undefined
  const words = link.args?.items ?? []
  const url = words[words.findIndex(({ value }) => value === '--url') + 1]
  if (url === undefined) return undefined
  const key = /(httpUrl|serverUrl|url)["']?\s*[:=]/.exec(was)?.[1] ?? 'url'
  const spelled = text.slice(url.start, url.end)
  return [
    { ...command.whole, text: format.members(text, command, [[key, spelled]]) },
    { start: command.whole.end, end: args.whole.end, text: '' },
    ...typeBack(members, was, format),
    ...headersBack(back, words),
  ]
}

function typeBack(members: readonly Member[], was: string, { spell }: ConfigFormat): readonly Edit[] {
  const type = named(members, ['type'])
  const before = /type["']?\s*[:=]\s*["']([^"']+)/.exec(was)?.[1] ?? 'http'
  return type === undefined ? [] : [{ ...placeOf(type.value), text: spell(before) }]
}

function headersBack({ text, entry, format }: BridgeBack, words: readonly Word[]): readonly Edit[] {
  const env = named(entry.members, ['env'])
  const passed = named(entry.members, ['env_vars'])
  const headers = valuesOf(words, '--header-env').map((each) => each.split('=', 2))
  const token = /^Authorization: Bearer \$\{env\.(.+)\}$/.exec(valuesOf(words, '--header')[0] ?? '')?.[1]
  return [
    ...(env === undefined || headers.length === 0 ? [] : [renamed(text, env.key, format.headersKey, format)]),
    ...headers.flatMap(([name = ''], index) => {
      const variable = named(env?.inside ?? [], [variableOf(index)])
      return variable === undefined ? [] : [renamed(text, variable.key, name, format)]
    }),
    ...(passed === undefined || token === undefined
      ? []
      : [
          {
            ...passed.whole,
            text: format.members(text, passed, [['bearer_token_env_var', format.spell(token)]]),
          },
        ]),
  ]
}

function valuesOf(words: readonly Word[], option: string): readonly string[] {
  return words.flatMap(({ value }, index) => (value === option ? [words[index + 1]?.value ?? ''] : []))
}
