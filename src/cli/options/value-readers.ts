import { readFileSync, statSync } from 'node:fs'
import { type HeaderArg, recordUsageError } from './read-record-options.ts'
import { ReelayError } from '../../errors.ts'
import type { AddedHeader } from '../../http/headers.ts'
import { parseVault } from '../../store/vault.ts'

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What is each hop's own, or says how long the body is. */
const CONNECTION_HEADERS =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*)$/i
const ENV_REFERENCE = /\$\{env\.([^}]*)\}/g

/** The headers of the command line with their values. An error never shows a value. */
export function readHeaderArgs(
  headers: readonly HeaderArg[],
  env: NodeJS.ProcessEnv,
): readonly AddedHeader[] {
  return headers.flatMap((header) =>
    header.kind === 'written' ? [readHeaderOption(header.text, env)] : readHeaderVariable(header, env),
  )
}

/** Reads `Name: value`, with `${env.NAME}` in the value read from the environment. */
export function readHeaderOption(text: string, env: NodeJS.ProcessEnv): AddedHeader {
  const colon = text.indexOf(':')
  const name = checkedHeaderName(text.slice(0, Math.max(0, colon)).trim())
  const value = text
    .slice(colon + 1)
    .trim()
    .replaceAll(ENV_REFERENCE, (_, variable: string) => environmentValue(name, variable, env))
  if (value === '') throw invalidHeaderValue(name)
  return { name, value: checkedHeaderValue(name, value) }
}

/** A variable that is empty is an empty header, as a client would send it. */
function readHeaderVariable(
  { name, variable, mayBeMissing }: Extract<HeaderArg, { kind: 'variable' }>,
  env: NodeJS.ProcessEnv,
): readonly AddedHeader[] {
  const value = env[variable]
  if (mayBeMissing && !value?.trim()) return []
  if (value === undefined) throw missingHeaderVariable(name, variable)
  return [{ name: checkedHeaderName(name), value: checkedHeaderValue(name, value.trim()) }]
}

function checkedHeaderName(name: string): string {
  if (!TOKEN.test(name)) throw recordUsageError('--header is not of the form "Name: value"', HEADER_EXAMPLE)
  if (CONNECTION_HEADERS.test(name))
    throw recordUsageError(`--header cannot set ${name}: it belongs to the connection`, HEADER_EXAMPLE)
  return name
}

function checkedHeaderValue(name: string, value: string): string {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw invalidHeaderValue(name)
  return value
}

const HEADER_EXAMPLE =
  "for example --header 'Authorization: Bearer ${env.TOKEN}', with TOKEN in the environment"

function environmentValue(name: string, variable: string, env: NodeJS.ProcessEnv): string {
  const value = env[variable]
  if (value === undefined || value === '') throw missingHeaderVariable(name, variable)
  return value
}

function missingHeaderVariable(name: string, variable: string): ReelayError {
  return recordUsageError(
    `--header ${name} needs ${variable}, which is not in the environment`,
    HEADER_EXAMPLE,
  )
}

function invalidHeaderValue(name: string): ReelayError {
  return recordUsageError(`--header ${name} has no value, or one that no header can have`, HEADER_EXAMPLE)
}

/** `host:port`, `[address]:port` or a port alone, as the value of an option. */
export function readListenAddress(text: string, option = '--listen'): { host: string; port: number } {
  const found = /^(?:(?:\[([^\]]+)\]|([^:[\]]+)):)?(\d{1,5})$/.exec(text)
  const port = Number(found?.[3])
  if (found === null || port > 65_535)
    throw new ReelayError('USAGE', `${option} ${text} is not of the form host:port`, {
      hint: `for example ${option} 127.0.0.1:8080; port 0 takes a free one`,
    })
  return { host: found[1] ?? found[2] ?? '127.0.0.1', port }
}

/** Reads the value of an option that may stand without one, and so may have taken the tape for it. */
export function listenOptionReader(option: string): (text: string) => ReturnType<typeof readListenAddress> {
  return (text) => {
    try {
      return readListenAddress(text, option)
    } catch (error) {
      if (!(error instanceof ReelayError)) throw error
      const hint = `${error.hint}; a tape goes before it: reelay serve my-tape ${option}`
      throw new ReelayError(error.code, error.message, { hint, cause: error })
    }
  }
}

/** The values that the user names as secrets beside those of well-named variables; they are never shown. */
export function readSecretValues({ secret = [], secrets }: SecretFlags): readonly string[] {
  return [...secret.map(secretVariable), ...(secrets === undefined ? [] : secretsInFile(secrets))]
}

export interface SecretFlags {
  readonly secret?: readonly string[]
  readonly secrets?: string
}

function secretVariable(name: string): string {
  const value = process.env[name]
  if (value !== undefined && value !== '') return value
  throw new ReelayError('USAGE', `--secret ${name}: there is no such variable in the environment`, {
    hint: `set it, as in ${name}=… reelay …, or put it into a file for --secrets`,
  })
}

/** A vault, or lines of the form NAME=value that somebody wrote, in a file that nobody else can read. */
function secretsInFile(path: string): readonly string[] {
  const values = parseVault(readPrivateFile(path))
  if (!('line' in values)) return values
  throw unusableSecretsFile(path, `line ${values.line} is not of the form NAME=value`)
}

function readPrivateFile(path: string): string {
  try {
    const isOpenToOthers = process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
    if (isOpenToOthers) throw new Error('others can read it; chmod 600 keeps it to yourself')
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unusableSecretsFile(path, error instanceof Error ? error.message : String(error))
  }
}

function unusableSecretsFile(path: string, why: string): ReelayError {
  return new ReelayError('USAGE', `--secrets ${path} cannot be used: ${why}`, {
    hint: 'the file holds lines of the form NAME=value and has the mode 600',
  })
}
