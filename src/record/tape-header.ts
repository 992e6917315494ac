import { ReelayError } from '../errors.ts'
import { isSecretVariable } from '../redact/secret-names.ts'
import {
  TAPE_VERSION,
  type TapeHeader,
  type TapeServer,
  type TapeLabels,
  TEXT_LABELS,
  pickLabels,
} from '../tape/header.ts'
import { VERSION } from '../version.ts'

interface StdioHeaderOptions {
  readonly started: Date
  readonly server: string
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly labels: TapeLabels
}

/** Line 1 of a tape that is recorded from a server command. */
export function stdioHeader({ started, server, command, env, labels }: StdioHeaderOptions): TapeHeader {
  return tapeHeader(started, { [server]: stdioServer(command, env) }, labels)
}

/** Line 1 of any tape. */
export function tapeHeader(started: Date, servers: TapeHeader['servers'], labels: TapeLabels): TapeHeader {
  return {
    reelay: TAPE_VERSION,
    id: tapeId(started),
    started: started.toISOString(),
    by: `reelay ${VERSION}`,
    servers,
    ...labels,
  }
}

/** What a tape says of a server that runs as a process. */
export function stdioServer(command: readonly string[], env: NodeJS.ProcessEnv): TapeServer {
  return { transport: 'stdio', command, env: secretVariableNames(env) }
}

interface HttpHeaderOptions {
  readonly started: Date
  readonly server: string
  readonly url: string
  readonly labels: TapeLabels
}

/** Line 1 of a tape that is recorded from a server at a URL. */
export function httpHeader({ started, server, url, labels }: HttpHeaderOptions): TapeHeader {
  return tapeHeader(started, { [server]: { transport: 'http', url } }, labels)
}

/** Line 1 of a tape of whatever servers a client names. Most are not known yet: a `server` event tells of each. */
export function forwardHeader({ started, server, servers, labels }: ForwardHeaderOptions): TapeHeader {
  return tapeHeader(started, server === undefined ? servers : { [server]: { transport: 'http' } }, labels)
}

interface ForwardHeaderOptions {
  readonly started: Date
  readonly server: string | undefined
  /** Those that are known already, when a tape follows another. */
  readonly servers: TapeHeader['servers']
  readonly labels: TapeLabels
}

function secretVariableNames(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.keys(env).filter(isSecretVariable).toSorted()
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * A ULID: sorted by time, unique by chance. It names a tape and protects nothing, so Math.random will do:
 * loading node:crypto would cost the recorder several milliseconds at every start.
 */
function tapeId(time: Date): string {
  const stamp = Array.from(
    { length: 10 },
    (_, place) => ALPHABET[Math.floor(time.getTime() / 32 ** (9 - place)) % 32],
  )
  const chance = Array.from({ length: 16 }, () => ALPHABET[Math.floor(Math.random() * 32)])
  return [...stamp, ...chance].join('')
}

/** The labels that the environment holds: `REELAY_SESSION` and the like, and `REELAY_TAGS=a=b,c=d`. */
export function labelsFromEnv(env: NodeJS.ProcessEnv): TapeLabels {
  const ids = Object.fromEntries(TEXT_LABELS.map((id) => [id, env[labelVariable(id)] ?? '']))
  const tags = (env['REELAY_TAGS'] ?? '').split(',').filter((tag) => tag.trim() !== '')
  return pickLabels({ ...ids, tags: Object.fromEntries(tags.map((tag) => parseTag('REELAY_TAGS', tag))) })
}

/** The other way round: variables that hold the labels. */
export function labelsToEnv(labels: TapeLabels): Readonly<Record<string, string>> {
  const ids = TEXT_LABELS.flatMap((id) => (labels[id] === undefined ? [] : [[labelVariable(id), labels[id]]]))
  const tags = Object.entries(labels.tags).map(([key, value]) => `${key}=${value}`)
  return { ...Object.fromEntries(ids), ...(tags.length > 0 && { REELAY_TAGS: tags.join(',') }) }
}

/** Reads `key=value`; `from` says where it stands. */
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
