import type { ConfigFormat, Entry, Member, Word } from './config-format.ts'
import { applyEdits, type Edit } from './edit.ts'
import type { Piece } from './entry-edits.ts'
import type { Recorder } from './wrapped-command.ts'

export interface BridgeRequest {
  readonly text: string
  readonly entry: Entry
  readonly format: ConfigFormat
  readonly recorder: Recorder
  readonly tape: string
}

const URL_KEYS = ['httpUrl', 'url', 'serverUrl']
const HEADER_KEYS = ['headers', 'http_headers']

/**
 * The change that puts a bridge in the place of a `url`. Headers become variables of the environment, with their values as
 * they are spelled: what the client expands there still expands, and no token stands among the args. Says why when it cannot.
 */
export function bridgePiece(request: BridgeRequest): Piece | string {
  const { text, entry, format } = request
  const { span, members } = entry
  const url = members.find(({ key }) => URL_KEYS.includes(key.value ?? ''))
  if (span === undefined) return 'its parts stand apart in the file'
  if (url?.value.value === undefined) return 'its url is not a string'
  const why = obstacle(members)
  if (why !== undefined) return why
  const edits = [
    { ...url.whole, text: format.members(text, url, commandMembers(request, url)) },
    ...typeEdits(members, (value) => format.spell(value)),
    ...headerEdits(request),
  ]
  const was = text.slice(span.start, span.end)
  return {
    at: 'entry',
    was,
    now: applyEdits(
      was,
      edits.map((edit) => within(edit, span.start)),
    ),
  }
}

/** The variable that holds a header, counted from 1. */
export function variableOf(index: number): string {
  return `REELAY_HEADER_${index + 1}`
}

function obstacle(members: readonly Member[]): string | undefined {
  const headers = named(members, HEADER_KEYS)
  if (named(members, ['env_http_headers']) !== undefined)
    return 'its headers come from variables of the client (env_http_headers), which a command does not get'
  if (headers?.inside?.length === 0 || headers === undefined) return undefined
  if (named(members, ['env']) !== undefined) return 'it has both headers and an env'
  const isPlain = headers.inside?.every(({ key, value }) => isHeader(key) && value.value !== undefined)
  return isPlain === true ? undefined : 'its headers are not a list of strings'
}

function isHeader({ value }: Word): boolean {
  return value !== undefined && /^[^=:\s]+$/.test(value)
}

function commandMembers(
  { text, entry, format, recorder, tape }: BridgeRequest,
  url: Member,
): readonly (readonly [string, string])[] {
  const words = [
    ...[recorder.program, 'record', '--bridge', '--server', entry.server, '--url'].map(format.spell),
    text.slice(url.value.start, url.value.end),
    ...headerWords(entry.members).map(format.spell),
    format.spell(tape),
  ]
  return [
    ['command', format.spell(recorder.node)],
    ['args', `[${words.join(', ')}]`],
  ]
}

function headerWords(members: readonly Member[]): readonly string[] {
  const headers = named(members, HEADER_KEYS)?.inside ?? []
  const token = named(members, ['bearer_token_env_var'])?.value.value
  return [
    ...headers.flatMap(({ key }, index) => ['--header-env', `${key.value}=${variableOf(index)}`]),
    ...(token === undefined ? [] : ['--header', `Authorization: Bearer \${env.${token}}`]),
  ]
}

function typeEdits(members: readonly Member[], spell: (value: string) => string): readonly Edit[] {
  const type = named(members, ['type'])
  return type === undefined ? [] : [{ ...placeOf(type.value), text: spell('stdio') }]
}

function headerEdits({ text, entry, format }: BridgeRequest): readonly Edit[] {
  const headers = named(entry.members, HEADER_KEYS)
  const token = named(entry.members, ['bearer_token_env_var'])
  const names = headers?.inside ?? []
  return [
    ...(headers === undefined || names.length === 0 ? [] : [renamed(text, headers.key, 'env', format)]),
    ...names.map(({ key }, index) => renamed(text, key, variableOf(index), format)),
    // Codex hands only the variables on to a command that it is told to.
    ...(token === undefined
      ? []
      : [{ ...token.whole, text: format.members(text, token, [['env_vars', listOf(text, token)]]) }]),
  ]
}

function listOf(text: string, { value }: Member): string {
  return `[${text.slice(value.start, value.end)}]`
}

/** A key with another name, in quotes if it was. */
export function renamed(text: string, key: Word, name: string, format: ConfigFormat): Edit {
  const isQuoted = /["']/.test(text[key.start] ?? '')
  return { ...placeOf(key), text: isQuoted ? format.spell(name) : name }
}

export function named(members: readonly Member[], names: readonly string[]): Member | undefined {
  return members.find(({ key }) => names.includes(key.value ?? ''))
}

export function placeOf({ start, end }: Word): { start: number; end: number } {
  return { start, end }
}

function within({ start, end, text }: Edit, offset: number): Edit {
  return { start: start - offset, end: end - offset, text }
}
