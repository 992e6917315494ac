import { ReelayError } from '../errors.ts'
import { tokenPrefixes } from '../redact/rules/index.ts'
import { isSecretVariable, judgeFlag } from '../redact/secret-names.ts'
import {
  pickLabels,
  TAPE_VERSION,
  type TapeHeader,
  type TapeLabels,
  type TapeServer,
  TEXT_LABELS,
} from '../tape/header.ts'
import { VERSION } from '../version.ts'

/** The first line of a new tape. */
export function tapeHeader(started: Date, servers: TapeHeader['servers'], labels: TapeLabels): TapeHeader {
  return {
    reelay: TAPE_VERSION,
    id: tapeId(started),
    started: started.toISOString(),
    ...utcOffsetsOf(started),
    by: `reelay ${VERSION}`,
    servers,
    ...labels,
  }
}

/** Local time in January and July: the times of a server that names no zone may be of any day of the year. */
function utcOffsetsOf(started: Date): Pick<TapeHeader, 'utcOffsets'> {
  const year = started.getFullYear()
  const utcOffsets = [new Date(year, 0, 1), new Date(year, 6, 1)].map((day) => -day.getTimezoneOffset())
  return utcOffsets.every((minutes) => minutes === 0) ? {} : { utcOffsets }
}

/** Describes a server that runs as a process. Of its environment only the names of secret variables are recorded. */
export function stdioServer(command: readonly string[], env: NodeJS.ProcessEnv): TapeServer {
  return { transport: 'stdio', command, env: Object.keys(env).filter(isSecretVariable).toSorted() }
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * Returns a ULID, which sorts by time. It names a tape and protects nothing, so Math.random is good enough: loading
 * node:crypto would make every start of the recorder several milliseconds slower.
 */
function tapeId(time: Date): string {
  const stamp = Array.from(
    { length: 10 },
    (_, place) => ALPHABET[Math.floor(time.getTime() / 32 ** (9 - place)) % 32],
  )
  const random = Array.from({ length: 16 }, () => ALPHABET[Math.floor(Math.random() * 32)])
  return [...stamp, ...random].join('')
}

/** Reads labels from variables such as `REELAY_SESSION`, and tags from `REELAY_TAGS=a=b,c=d`. */
export function labelsFromEnv(env: NodeJS.ProcessEnv): TapeLabels {
  const ids = Object.fromEntries(TEXT_LABELS.map((id) => [id, env[labelVariable(id)] ?? '']))
  const tags = (env['REELAY_TAGS'] ?? '').split(',').filter((tag) => tag.trim() !== '')
  return pickLabels({ ...ids, tags: Object.fromEntries(tags.map((tag) => parseTag('REELAY_TAGS', tag))) })
}

/** Returns the variables from which `labelsFromEnv` reads these labels. */
export function labelsToEnv(labels: TapeLabels): Readonly<Record<string, string>> {
  const ids = TEXT_LABELS.flatMap((id) => (labels[id] === undefined ? [] : [[labelVariable(id), labels[id]]]))
  const tags = Object.entries(labels.tags).map(([key, value]) => `${key}=${value}`)
  return { ...Object.fromEntries(ids), ...(tags.length > 0 && { REELAY_TAGS: tags.join(',') }) }
}

/** Parses `key=value`. `from` is the option or variable that contains it. */
export function parseTag(from: string, text: string): [key: string, value: string] {
  const equals = text.indexOf('=')
  if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)]
  throw new ReelayError('USAGE', `${from} ${text} is not of the form key=value`, {
    hint: 'for example suite=smoke',
  })
}

function labelVariable(id: (typeof TEXT_LABELS)[number]): string {
  return `REELAY_${id.toUpperCase()}`
}

/** Names a server after the command that starts it: `npx -y @acme/linear-mcp` is `linear-mcp`. */
export function serverName(command: readonly string[]): string {
  const [first = '', ...rest] = command
  const runner = bareName(first)
  if (runner === 'env') return serverName(rest.slice(rest.findIndex((word) => !/^-|=/.test(word))))
  const word = RUNNERS.test(runner) ? firstOperand(rest) : undefined
  return safeName(bareName(word ?? first))
}

/** Names a server after its URL: `https://mcp.acme.dev/mcp` is `mcp.acme.dev`. */
export function serverNameFromUrl({ host }: URL): string {
  return host.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[.-]+|-+$/g, '')
}

/** Makes a text safe to be part of a file name. */
export function safeName(text: string): string {
  const safe = text.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+/, '')
  return safe.slice(0, 60) || 'server'
}

const RUNNERS =
  /^(node|nodejs|npx|npm|pnpm|pnpx|yarn|bun|bunx|deno|tsx|python[\d.]*|uv|uvx|pipx|docker|podman)$/
const SUBCOMMANDS = new Set(['run', 'exec', 'dlx', 'x', 'container'])
// The word after these is a value, which may be a secret and must not become part of a file name.
const OPTION_WITH_VALUE =
  /^(-[epvuwhlr]|--(env|env-file|package|volume|publish|name|workdir|network|mount|user|hostname|entrypoint|label|platform|pull|from|with|require|import|loader|env-file-if-exists))$/

/** The script, package or image that a runner runs. */
function firstOperand(words: readonly string[]): string | undefined {
  return words.find((word, index) => {
    const isOption = word.startsWith('-') || word.includes('=')
    const before = words[index - 1] ?? ''
    return (
      !isOption && !SUBCOMMANDS.has(word) && !OPTION_WITH_VALUE.test(before) && !isSecretOperand(word, before)
    )
  })
}

/** Returns true for the value of an option that is secret, by the name of the option or by its form. */
function isSecretOperand(word: string, before: string): boolean {
  if (!before.startsWith('-')) return false
  if (judgeFlag(before) !== 'no' || isSecretVariable(before)) return true
  if (!/^(?=.*\d)[\w.-]{12,}$/.test(word)) return false // the prefixes take time to load
  return tokenPrefixes().some((prefix) => word.startsWith(prefix) && word.length > prefix.length + 7)
}

/** The last part of a path that is not generic, without file extension, package scope, version or image tag. */
function bareName(word: string): string {
  const parts = word
    .replaceAll('\\', '/')
    .split('/')
    .filter((part) => part !== '')
    .map((part) => part.replace(/(?<=.)[@:][^@:]*$/, '').replace(/\.(exe|cmd|[cm]?[jt]s|py|sh)$/i, ''))
  const last = parts.at(-1) ?? ''
  return GENERIC_NAME.test(last) ? (parts.findLast((part) => !GENERIC_NAME.test(part)) ?? last) : last
}

const GENERIC_NAME = /^(index|main|__main__|cli|dist|build|out|lib|src|bin|\.|\.\.)$/
