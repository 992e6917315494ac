import { parseFilter, type FilterExpression } from '../../filter/filter.ts'
import type { AddedHeader } from '../../http/headers.ts'
import { bareHost, isLoopback, parseServerUrl } from '../../http/hosts.ts'
import { inGroup, option, type OptionRow, type OptionTable, type ValueType, usageError } from './option.ts'
import { newestSessionRevision, newestStatelessRevision } from '../../protocol/revisions/index.ts'
import { choiceOf, headerValue, listOf, seedValue, textValue, fileValue, nameList } from './option-types.ts'
import { readFileSync, statSync } from 'node:fs'
import { errorMessage, type ReelayError } from '../../errors.ts'
import { parseVault } from '../../store/vault.ts'

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

/** What could do damage goes to this machine, unless the user names the host. */
export function requireAllowedTarget(
  url: URL | undefined,
  {
    allowed = [],
    what,
    may,
  }: { readonly allowed?: readonly string[] | undefined; readonly what: string; readonly may: string },
): void {
  if (url === undefined || isLoopback(bareHost(url)) || allowed.includes(bareHost(url))) return
  throw usageError(
    `${what} to this machine only, and ${bareHost(url)} is another one`,
    `if you may ${may}: --target-allowed ${bareHost(url)}`,
  )
}

/** Splits the words of a command from the server command after `--`. The parser drops the `--` between them. */
export function splitServerCommand(
  words: readonly string[],
  argv: readonly string[] = process.argv,
): { readonly words: readonly string[]; readonly command: readonly string[] } {
  const at = argv.indexOf('--')
  const count = at < 0 ? 0 : argv.length - at - 1
  return { words: words.slice(0, words.length - count), command: words.slice(words.length - count) }
}

/** Selects the server of a tape that has several. */
export const serverOption: OptionRow<string> = option(
  '--server <filter>',
  textValue,
  'Select a server by name if the tape has several; * matches any characters',
)

/** A protocol version of the other era. */
export const eraValue: ValueType<string> = {
  ...choiceOf(newestStatelessRevision().version, newestSessionRevision().version),
  placeholder: 'version',
}

export const seedOption: OptionRow<number> = option(
  '--seed',
  seedValue,
  'Use this seed for all random choices; the same seed gives the same run',
)

/** Converts the spellings of a pace to those that all commands use: `none` and `recorded`. */
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

export interface SecretFlags {
  readonly secret?: readonly string[]
  readonly secrets?: string
}

/** Values that the user declares secret. Those of variables such as `API_TOKEN` are secret anyway. */
export const SECRET_OPTIONS: OptionTable<SecretFlags> = inGroup('Secrets', {
  secret: option(
    '--secret <variables>',
    nameList,
    'Replace placeholders on the tape with the values of these environment variables (repeatable)',
  ),
  secrets: option(
    '--secrets',
    fileValue,
    'Replace placeholders with the values in this file: a vault, or NAME=value lines; only you may have access to it',
  ),
})

/** Reads the secret values, which are never shown. */
export function readSecretValues({ secret = [], secrets }: SecretFlags): readonly string[] {
  return [...secret.map(variableValue), ...(secrets === undefined ? [] : valuesInFile(secrets))]
}

function variableValue(name: string): string {
  const value = process.env[name]
  if (value !== undefined && value !== '') return value
  throw usageError(
    `--secret needs ${name}, which is not in the environment`,
    `set it, as in ${name}=… reelay …, or put it into a file for --secrets`,
  )
}

function valuesInFile(path: string): readonly string[] {
  const values = parseVault(readPrivateFile(path))
  if (!('line' in values)) return values
  throw unusableFile(path, `line ${values.line} is not of the form NAME=value`)
}

function readPrivateFile(path: string): string {
  try {
    const isOpenToOthers = process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
    if (isOpenToOthers) throw new Error('other users can read it; run chmod 600 on it')
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unusableFile(path, errorMessage(error))
  }
}

function unusableFile(path: string, why: string): ReelayError {
  return usageError(
    `--secrets ${path} cannot be used: ${why}`,
    'the file holds NAME=value lines and has mode 600',
  )
}

/** Selects exchanges or messages; the same grammar everywhere. */
export function messageFilterOption(flag: string, help: string): OptionRow<FilterExpression> {
  return option(`${flag} <filter>`, filterValue, `${help}, e.g. 'tool:search status:error duration:>500ms'`)
}

const filterValue: ValueType<FilterExpression> = {
  kind: 'value',
  name: 'filter',
  placeholder: 'filter',
  expected: "a filter, e.g. 'tool:search status:error'",
  parse: parseFilter,
}
