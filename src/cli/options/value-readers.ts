import type { ReelayError } from '../../errors.ts'
import type { AddedHeader } from '../../transport/own-headers.ts'
import type { HeaderArg } from './read-record-options.ts'
import { recordUsageError } from '../record-limits.ts'

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
