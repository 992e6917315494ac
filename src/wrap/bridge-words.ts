import type { ConfigToken } from './configs/config-format.ts'
import type { HeaderVariable } from './entries/remote-entry.ts'

/** What the words of a bridge say: where its server is, and which headers it sends. */
export interface ParsedBridgeArgs {
  readonly url: ConfigToken | undefined
  readonly urlVariable: string | undefined
  /** Headers of the config, with the variable of the bridge that holds each. */
  readonly headers: readonly HeaderVariable[]
  /** Headers from variables of the client, which may be missing. */
  readonly variables: readonly HeaderVariable[]
  /** The variable of the client that holds a bearer token. */
  readonly token: string | undefined
  /** Headers as `Name: value`. */
  readonly literalHeaders: readonly string[]
}

/** Reads the args of an entry that starts a bridge. */
export function parseBridgeArgs(words: readonly ConfigToken[]): ParsedBridgeArgs {
  const after = (option: string): readonly ConfigToken[] =>
    words.flatMap(({ value }, at) => (value === option ? (words[at + 1] ?? []) : []))
  const texts = (option: string): readonly string[] => after(option).map(({ value }) => value ?? '')
  const headers = texts('--header-env').map(parseHeaderEnv)
  const literalHeaders = texts('--header')
  const tokens = literalHeaders.map((text) => BEARER_HEADER_PATTERN.exec(text)?.[1])
  return {
    url: after('--url').at(-1),
    urlVariable: texts('--url-env').at(-1),
    headers: headers.filter(({ mayBeMissing }) => !mayBeMissing),
    variables: headers.filter(({ mayBeMissing }) => mayBeMissing),
    token: tokens.find((token) => token !== undefined),
    literalHeaders,
  }
}

const BEARER_HEADER_PATTERN = /^Authorization: Bearer \$\{env\.(.+)\}$/

function parseHeaderEnv(text: string): HeaderVariable & { readonly mayBeMissing: boolean } {
  const [, name = '', variable = '', mark] = /^([^=]*)=(.*?)(\?)?$/.exec(text) ?? []
  return { name, variable, mayBeMissing: mark !== undefined }
}
