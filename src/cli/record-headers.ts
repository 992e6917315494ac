import type { OwnHeader } from '../transport/own-headers.ts'
import { usage } from './record-limits.ts'

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What is each hop's own, or says how long the body is. */
const NOT_OURS =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|proxy-.*)$/i
const ENV = /\$\{env\.([^}]*)\}/g

/** Reads `Name: value`, with `${env.NAME}` in the value read from the environment. An error never shows the value. */
export function readHeader(text: string, env: NodeJS.ProcessEnv): OwnHeader {
  const colon = text.indexOf(':')
  const name = text.slice(0, Math.max(0, colon)).trim()
  if (!TOKEN.test(name)) throw usage('--header is not of the form "Name: value"', EXAMPLE)
  if (NOT_OURS.test(name)) throw usage(`--header cannot set ${name}: it belongs to the connection`, EXAMPLE)
  const value = text
    .slice(colon + 1)
    .trim()
    .replaceAll(ENV, (_, variable: string) => valueOf(name, variable, env))
  if (!/^[\t\x20-\x7e\x80-\xff]+$/.test(value))
    throw usage(`--header ${name} has no value, or one that no header can have`, EXAMPLE)
  return { name, value }
}

const EXAMPLE = "for example --header 'Authorization: Bearer ${env.TOKEN}', with TOKEN in the environment"

function valueOf(name: string, variable: string, env: NodeJS.ProcessEnv): string {
  const value = env[variable]
  if (value === undefined || value === '')
    throw usage(`--header ${name} needs ${variable}, which is not in the environment`, EXAMPLE)
  return value
}
