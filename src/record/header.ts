import { isSecretVariable } from '../redact/secret-names.ts'
import { TAPE_VERSION, type Header, type ServerInfo } from '../tape/header.ts'
import { VERSION } from '../version.ts'

export interface HeaderFacts {
  readonly started: Date
  readonly server: string
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly tags: Readonly<Record<string, string>>
}

/** Line 1 of a tape that is recorded from a server command. */
export function stdioHeader({ started, server, command, env, tags }: HeaderFacts): Header {
  return tapeHeader(started, { [server]: stdioServer(command, env) }, tags)
}

/** Line 1 of any tape. */
export function tapeHeader(started: Date, servers: Header['servers'], tags: Header['tags']): Header {
  return {
    reelay: TAPE_VERSION,
    id: tapeId(started),
    started: started.toISOString(),
    by: `reelay ${VERSION}`,
    servers,
    tags,
  }
}

/** What a tape says of a server that runs as a process. */
export function stdioServer(command: readonly string[], env: NodeJS.ProcessEnv): ServerInfo {
  return { transport: 'stdio', command, env: secretNames(env) }
}

export interface HttpHeaderFacts {
  readonly started: Date
  readonly server: string
  readonly url: string
  readonly tags: Readonly<Record<string, string>>
}

/** Line 1 of a tape that is recorded from a server at a URL. */
export function httpHeader({ started, server, url, tags }: HttpHeaderFacts): Header {
  return tapeHeader(started, { [server]: { transport: 'http', url } }, tags)
}

/** Line 1 of a tape of whatever servers a client names. They are not known yet: a `server` event tells of each. */
export function forwardHeader({ started, server, tags }: ForwardHeaderFacts): Header {
  return tapeHeader(started, server === undefined ? {} : { [server]: { transport: 'http' } }, tags)
}

export interface ForwardHeaderFacts {
  readonly started: Date
  readonly server: string | undefined
  readonly tags: Readonly<Record<string, string>>
}

function secretNames(env: NodeJS.ProcessEnv): readonly string[] {
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
