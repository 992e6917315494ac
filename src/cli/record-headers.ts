import type { ReelayError } from '../errors.ts'
import type { OwnHeader } from '../transport/own-headers.ts'
import type { HeaderArg } from './record-args.ts'
import { usage } from './record-limits.ts'

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What is each hop's own, or says how long the body is. */
const NOT_OURS =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*)$/i
const ENV = /\$\{env\.([^}]*)\}/g

/** The headers of the command line with their values. An error never shows a value. */
export function readHeaders(headers: readonly HeaderArg[], env: NodeJS.ProcessEnv): readonly OwnHeader[] {
  return headers.flatMap((header) =>
    header.kind === 'written' ? [readHeader(header.text, env)] : headerFromEnv(header, env),
  )
}

/** Reads `Name: value`, with `${env.NAME}` in the value read from the environment. */
export function readHeader(text: string, env: NodeJS.ProcessEnv): OwnHeader {
  const colon = text.indexOf(':')
  const name = nameIn(text.slice(0, Math.max(0, colon)).trim())
  const value = text
    .slice(colon + 1)
    .trim()
    .replaceAll(ENV, (_, variable: string) => valueOf(name, variable, env))
  if (value === '') throw noValue(name)
  return { name, value: sendable(name, value) }
}

/** A variable that is empty is an empty header, as a client would send it. */
function headerFromEnv(
  { name, variable, mayBeMissing }: Extract<HeaderArg, { kind: 'variable' }>,
  env: NodeJS.ProcessEnv,
): readonly OwnHeader[] {
  const value = env[variable]
  if (mayBeMissing && !value?.trim()) return []
  if (value === undefined) throw missing(name, variable)
  return [{ name: nameIn(name), value: sendable(name, value.trim()) }]
}

function nameIn(name: string): string {
  if (!TOKEN.test(name)) throw usage('--header is not of the form "Name: value"', EXAMPLE)
  if (NOT_OURS.test(name)) throw usage(`--header cannot set ${name}: it belongs to the connection`, EXAMPLE)
  return name
}

function sendable(name: string, value: string): string {
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) throw noValue(name)
  return value
}

const EXAMPLE = "for example --header 'Authorization: Bearer ${env.TOKEN}', with TOKEN in the environment"

function valueOf(name: string, variable: string, env: NodeJS.ProcessEnv): string {
  const value = env[variable]
  if (value === undefined || value === '') throw missing(name, variable)
  return value
}

function missing(name: string, variable: string): ReelayError {
  return usage(`--header ${name} needs ${variable}, which is not in the environment`, EXAMPLE)
}

function noValue(name: string): ReelayError {
  return usage(`--header ${name} has no value, or one that no header can have`, EXAMPLE)
}
