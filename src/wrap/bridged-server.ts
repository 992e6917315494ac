import type { AddedHeader } from '../transport/own-headers.ts'
import { parseBridgeArgs, type ParsedBridgeArgs } from './bridge-words.ts'
import type { ConfigEntry } from './configs/config-format.ts'
import { findConfigMembers } from './member-edits.ts'
import { urlMayContainSecret } from './secret-url.ts'

/** The server that a bridge leads to, as far as it can be known without the client. */
export interface BridgedServer {
  /** Undefined when only the client knows it. */
  readonly url: URL | undefined
  /** Where it is, in words that hold no secret. */
  readonly where: string
  readonly headers: readonly AddedHeader[]
  /** Whether the client puts something into the headers that is not known here. */
  readonly hasUnknownHeaders: boolean
  /** Variables that the bridge needs, and that the entry does not have. */
  readonly missing: readonly string[]
}

/** Reads an entry that starts a bridge; undefined when it starts something else. */
export function readBridgedServer(
  { link, members }: ConfigEntry,
  env: NodeJS.ProcessEnv,
): BridgedServer | undefined {
  const items = link.kind === 'command' ? (link.args?.items ?? []) : []
  if (!items.some(({ value }) => value === '--bridge')) return undefined
  const words = parseBridgeArgs(items)
  const own = findConfigMembers(members, ['env']).flatMap(({ inside = [] }) => inside)
  const held = new Map(own.map(({ key, value }) => [key.value ?? '', value.value ?? '']))
  const text = words.url?.value ?? held.get(words.urlVariable ?? '') ?? ''
  const headers = bridgeHeaders(words, (name) => held.get(name) ?? env[name])
  const needed = [...words.headers.map(({ variable }) => variable), words.urlVariable ?? '']
  return {
    url: hasClientPlaceholder(text) || !URL.canParse(text) ? undefined : new URL(text),
    where: displayUrl(text),
    headers: headers.filter(({ value }) => !hasClientPlaceholder(value)),
    hasUnknownHeaders: headers.some(({ value }) => hasClientPlaceholder(value)),
    missing: needed.filter((name) => name !== '' && !held.has(name) && env[name] === undefined),
  }
}

function bridgeHeaders(
  words: ParsedBridgeArgs,
  valueOf: (name: string) => string | undefined,
): readonly AddedHeader[] {
  const fromVariables = [...words.headers, ...words.variables].map(({ name, variable }) => ({
    name,
    value: valueOf(variable) ?? UNKNOWN_VALUE,
  }))
  return [...fromVariables, ...words.literalHeaders.map((text) => parseLiteralHeader(text, valueOf))]
}

/** What looks as if the client had to put it in. */
const UNKNOWN_VALUE = '${unknown}'

function parseLiteralHeader(text: string, valueOf: (name: string) => string | undefined): AddedHeader {
  const [, name = '', value = ''] = /^([^:]*):\s*(.*)$/.exec(text) ?? []
  return {
    name,
    value: value.replaceAll(/\$\{env\.([^}]*)\}/g, (_, each: string) => valueOf(each) ?? UNKNOWN_VALUE),
  }
}

/** Clients put values into `${input:key}`, `${env:KEY}`, `${KEY}` and `$KEY`. */
function hasClientPlaceholder(text: string): boolean {
  return /\$(\{|[A-Za-z_])/.test(text)
}

function displayUrl(text: string): string {
  if (hasClientPlaceholder(text) || !URL.canParse(text)) return 'a url that only the client knows'
  const { origin, pathname } = new URL(text)
  return urlMayContainSecret(text) ? `${origin}/…` : origin + pathname
}
