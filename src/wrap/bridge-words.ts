import type { Word } from './config-format.ts'
import type { HeaderVariable } from './remote-entry.ts'

/** What the words of a bridge say: where its server is, and which headers it sends. */
export interface BridgeWords {
  readonly url: Word | undefined
  readonly urlVariable: string | undefined
  /** Headers of the config, with the variable of the bridge that holds each. */
  readonly headers: readonly HeaderVariable[]
  /** Headers from variables of the client, which may be missing. */
  readonly variables: readonly HeaderVariable[]
  /** The variable of the client that holds a bearer token. */
  readonly token: string | undefined
  /** Headers as `Name: value`. */
  readonly written: readonly string[]
}

/** Reads the args of an entry that starts a bridge. */
export function bridgeWords(words: readonly Word[]): BridgeWords {
  const after = (option: string): readonly Word[] =>
    words.flatMap(({ value }, at) => (value === option ? (words[at + 1] ?? []) : []))
  const texts = (option: string): readonly string[] => after(option).map(({ value }) => value ?? '')
  const headers = texts('--header-env').map(readHeaderEnv)
  const written = texts('--header')
  const tokens = written.map((text) => BEARER.exec(text)?.[1])
  return {
    url: after('--url').at(-1),
    urlVariable: texts('--url-env').at(-1),
    headers: headers.filter(({ mayBeMissing }) => !mayBeMissing),
    variables: headers.filter(({ mayBeMissing }) => mayBeMissing),
    token: tokens.find((token) => token !== undefined),
    written,
  }
}

const BEARER = /^Authorization: Bearer \$\{env\.(.+)\}$/

function readHeaderEnv(text: string): HeaderVariable & { readonly mayBeMissing: boolean } {
  const [, name = '', variable = '', mark] = /^([^=]*)=(.*?)(\?)?$/.exec(text) ?? []
  return { name, variable, mayBeMissing: mark !== undefined }
}
