import { basename } from 'node:path'
import { TAPE_VERSION, type Header } from '../tape/header.ts'
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
  return {
    reelay: TAPE_VERSION,
    id: tapeId(started),
    started: started.toISOString(),
    by: `reelay ${VERSION}`,
    servers: { [server]: { transport: 'stdio', command, env: secretNames(env) } },
    tags,
  }
}

export interface HttpHeaderFacts {
  readonly started: Date
  readonly server: string
  readonly url: string
  readonly tags: Readonly<Record<string, string>>
}

/** Line 1 of a tape that is recorded from a server at a URL. */
export function httpHeader({ started, server, url, tags }: HttpHeaderFacts): Header {
  return {
    reelay: TAPE_VERSION,
    id: tapeId(started),
    started: started.toISOString(),
    by: `reelay ${VERSION}`,
    servers: { [server]: { transport: 'http', url } },
    tags,
  }
}

/** Line 1 of a tape of whatever servers a client names. They are not known yet: a `server` event tells of each. */
export function forwardHeader({ started, server, tags }: ForwardHeaderFacts): Header {
  return {
    reelay: TAPE_VERSION,
    id: tapeId(started),
    started: started.toISOString(),
    by: `reelay ${VERSION}`,
    servers: server === undefined ? {} : { [server]: { transport: 'http' } },
    tags,
  }
}

export interface ForwardHeaderFacts {
  readonly started: Date
  readonly server: string | undefined
  readonly tags: Readonly<Record<string, string>>
}

/** A name for the server, from the command that starts it: `npx -y @acme/linear-mcp` is `linear-mcp`. */
export function serverName(command: readonly string[]): string {
  const [first = 'server', ...rest] = command
  const words = RUNNERS.test(bare(first)) ? rest.filter((word) => !word.startsWith('-')) : [first]
  const word = words.find((each) => !SUBCOMMANDS.has(each)) ?? first
  return (
    bare(word)
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 60) || 'server'
  )
}

const RUNNERS =
  /^(node|nodejs|npx|npm|pnpm|pnpx|yarn|bun|bunx|deno|tsx|python[\d.]*|uv|uvx|pipx|docker|sh|bash|env)$/
const SUBCOMMANDS = new Set(['run', 'exec', 'dlx', 'x'])

/** The last part of a path, without a script's ending, a package's scope or its version. */
function bare(word: string): string {
  const name = basename(word.replaceAll('\\', '/'))
  return name.replace(/(?<=.)@[^@]*$/, '').replace(/\.(exe|cmd|m?js|c?js|m?ts|py|sh)$/i, '')
}

const SECRET_NAME = /token|secret|passw|credential|api_?key|private|auth|(^|_)key$|(^|_)pat$/i

function secretNames(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.keys(env)
    .filter((name) => SECRET_NAME.test(name))
    .toSorted()
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
