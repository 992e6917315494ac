import type { AddedHeader } from '../../http/headers.ts'
import { parseServerUrl } from '../../http/server-url.ts'
import { inGroup, option, type OptionRow, type OptionTable, type ValueType } from './option.ts'
import { headerValue, listOf, seedValue, textValue } from './option-types.ts'

// Options that `serve`, `replay` and `verify` share: the same name means the same in all of them.

export interface LiveServerFlags {
  readonly url?: URL
  readonly header?: readonly AddedHeader[]
}

const serverUrl: ValueType<URL> = {
  kind: 'value',
  name: 'URL',
  placeholder: 'url',
  expected: 'an http or https URL',
  parse: parseServerUrl,
}

export const LIVE_SERVER_OPTIONS: OptionTable<LiveServerFlags> = inGroup('Live server', {
  url: option('--url', serverUrl, 'Use the live server at this URL, instead of a command after --'),
  header: option(
    '--header',
    listOf(headerValue),
    'Add a header to every request to --url; ${env.NAME} is read from the environment (repeatable)',
    { needs: { url: true } },
  ),
})

/** The server of the tape that a command plays, or plays against. */
export const serverOption: OptionRow<string> = option(
  '--server <filter>',
  textValue,
  'Use this server of a tape that has several: its name, * matches any characters',
)

export const seedOption: OptionRow<number> = option(
  '--seed',
  seedValue,
  'Set the seed of everything random: the same seed gives the same run',
)

/** The spellings of a pace that mean the same in every command: `recorded`, `none`. */
export function canonicalPace(text: string): string {
  return PACE_SPELLINGS.get(text) ?? text
}

const PACE_SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['fast', 'none'],
  ['original', 'recorded'],
  ['realtime', 'recorded'],
])

/** `2` from `x2`, 1 from `recorded`. */
export function paceFactor(text: string): number | undefined {
  const factor = text === 'recorded' ? 1 : Number(/^x?(\d+(?:\.\d+)?)$/.exec(text)?.[1])
  return factor > 0 ? factor : undefined
}
