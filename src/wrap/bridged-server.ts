import type { OwnHeader } from '../transport/own-headers.ts'
import { bridgeWords, type BridgeWords } from './bridge-words.ts'
import type { Entry } from './config-format.ts'
import { allNamed } from './member-edits.ts'
import { mayHoldSecret } from './secret-url.ts'

/** The server that a bridge leads to, as far as it can be known without the client. */
export interface BridgedServer {
  /** Undefined when only the client knows it. */
  readonly url: URL | undefined
  /** Where it is, in words that hold no secret. */
  readonly where: string
  readonly headers: readonly OwnHeader[]
  /** Whether the client puts something into the headers that is not known here. */
  readonly isPartlyKnown: boolean
  /** Variables that the bridge needs, and that the entry does not have. */
  readonly missing: readonly string[]
}

/** Reads an entry that starts a bridge; undefined when it starts something else. */
export function bridgedServer({ link, members }: Entry, env: NodeJS.ProcessEnv): BridgedServer | undefined {
  const items = link.kind === 'command' ? (link.args?.items ?? []) : []
  if (!items.some(({ value }) => value === '--bridge')) return undefined
  const words = bridgeWords(items)
  const own = allNamed(members, ['env']).flatMap(({ inside = [] }) => inside)
  const held = new Map(own.map(({ key, value }) => [key.value ?? '', value.value ?? '']))
  const text = words.url?.value ?? held.get(words.urlVariable ?? '') ?? ''
  const headers = headersOf(words, (name) => held.get(name) ?? env[name])
  const needed = [...words.headers.map(({ variable }) => variable), words.urlVariable ?? '']
  return {
    url: isExpanded(text) || !URL.canParse(text) ? undefined : new URL(text),
    where: shown(text),
    headers: headers.filter(({ value }) => !isExpanded(value)),
    isPartlyKnown: headers.some(({ value }) => isExpanded(value)),
    missing: needed.filter((name) => name !== '' && !held.has(name) && env[name] === undefined),
  }
}

function headersOf(words: BridgeWords, valueOf: (name: string) => string | undefined): readonly OwnHeader[] {
  const fromVariables = [...words.headers, ...words.variables].map(({ name, variable }) => ({
    name,
    value: valueOf(variable) ?? UNKNOWN,
  }))
  return [...fromVariables, ...words.written.map((text) => writtenHeader(text, valueOf))]
}

/** What looks as if the client had to put it in. */
const UNKNOWN = '${unknown}'

function writtenHeader(text: string, valueOf: (name: string) => string | undefined): OwnHeader {
  const [, name = '', value = ''] = /^([^:]*):\s*(.*)$/.exec(text) ?? []
  return {
    name,
    value: value.replaceAll(/\$\{env\.([^}]*)\}/g, (_, each: string) => valueOf(each) ?? UNKNOWN),
  }
}

/** Clients put values into `${input:key}`, `${env:KEY}`, `${KEY}` and `$KEY`. */
function isExpanded(text: string): boolean {
  return /\$(\{|[A-Za-z_])/.test(text)
}

function shown(text: string): string {
  if (isExpanded(text) || !URL.canParse(text)) return 'a url that only the client knows'
  const { origin, pathname } = new URL(text)
  return mayHoldSecret(text) ? `${origin}/…` : origin + pathname
}
