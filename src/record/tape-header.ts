import { isSecretVariable } from '../redact/secret-names.ts'
import { TAPE_VERSION, type TapeHeader, type TapeServer } from '../tape/header.ts'
import type { TapeLabels } from '../tape/labels.ts'
import { VERSION } from '../version.ts'

export interface StdioHeaderOptions {
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

export interface HttpHeaderOptions {
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

export interface ForwardHeaderOptions {
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
