import { existsSync } from 'node:fs'
import { ReelayError } from '../errors.ts'
import { serverNameFromUrl, serverName } from '../record/tape-header.ts'
import { firstMessageOf } from '../serve/player/turn-filters.ts'
import { createThrowawayRedactor } from '../serve/redaction/report-redactor.ts'
import { numberedPath } from '../store/file/write.ts'
import { loadTape, type Tape } from '../store/file/read.ts'
import { resolveTape } from '../store/home.ts'
import type { TapeServer } from '../tape/header.ts'

/** A server on a tape. */
export interface ServerOnTape {
  readonly tape: Tape
  readonly server: string
}

/** A server as the header of a tape describes it. */
interface ListedServer {
  readonly server: string
  readonly info: TapeServer
  readonly hasRequests: boolean
}

/** A server that a program wants to talk to. */
interface ServerQuery {
  /** Its name on a tape, unless another server has the same one. */
  readonly name: string
  readonly isSame: (info: TapeServer) => boolean
  /** Describes the server in errors. */
  readonly description: string
}

export function queryForCommand(command: readonly string[]): ServerQuery {
  const text = JSON.stringify(command)
  const isSame = (info: TapeServer): boolean => JSON.stringify(info.command) === text
  return {
    name: serverName(command),
    isSame,
    description: `the command ${createThrowawayRedactor().command(command).join(' ')}`,
  }
}

export function queryForUrl(url: URL): ServerQuery {
  const isSame = (info: TapeServer): boolean =>
    info.url !== undefined && URL.canParse(info.url) && withoutQuery(new URL(info.url)) === withoutQuery(url)
  return { name: serverNameFromUrl(url), isSame, description: createThrowawayRedactor().url(url.href) }
}

function withoutQuery({ origin, pathname }: URL): string {
  return origin + pathname
}

/**
 * The tapes of one run. Each process that talked to servers wrote its own: `demo`, `demo-2`, … They are searched in that order.
 */
export class TapeSet {
  readonly #name: string
  readonly #tapes = new Map<string, Promise<Tape>>()

  constructor(name: string) {
    this.#name = name
  }

  /** All servers of all tapes. */
  async servers(): Promise<readonly ListedServer[]> {
    const tapes = await Promise.all(this.#paths().map((path) => this.#load(path)))
    return tapes.flatMap((tape) => {
      const asked = new Set(tape.turns.map((turn) => turn.trigger && firstMessageOf(turn)?.server))
      return Object.entries(tape.header.servers).map(([server, info]) => ({
        server,
        info,
        hasRequests: asked.has(server),
      }))
    })
  }

  async findServer(wanted: ServerQuery): Promise<ServerOnTape> {
    const names: string[] = []
    for (const path of this.#paths()) {
      const tape = await this.#load(path)
      const server = matchServer(tape, wanted)
      if (server !== undefined) return { tape, server }
      names.push(...Object.keys(tape.header.servers))
    }
    throw serverNotFound(this.#name, names, wanted)
  }

  #paths(): readonly string[] {
    return pathsOf(resolveTape(this.#name))
  }

  #load(path: string): Promise<Tape> {
    const loading = this.#tapes.get(path) ?? loadTape(path)
    this.#tapes.set(path, loading)
    return loading
  }
}

function pathsOf(path: string): readonly string[] {
  const paths = [path]
  for (let next = numberedPath(path, 2); existsSync(next); next = numberedPath(path, paths.length + 1))
    paths.push(next)
  return paths
}

/** Finds a server by its command or URL, or else by its name if only one server has it. */
function matchServer({ header }: Tape, { name, isSame }: ServerQuery): string | undefined {
  const servers = Object.entries(header.servers)
  const same = servers.find(([, info]) => isSame(info))
  if (same !== undefined) return same[0]
  const alike = servers.filter(([server]) => server === name || server.startsWith(`${name}-`))
  return alike.length === 1 && alike[0]?.[0] === name ? name : undefined
}

function serverNotFound(name: string, names: readonly string[], { description }: ServerQuery): ReelayError {
  return new ReelayError(
    'USAGE',
    `the tape ${name} has no server for ${description}, only ${names.join(', ')}`,
    {
      hint: 'record it with REELAY_RECORD, or keep it live with REELAY_REPLAY_SERVER=<the others>',
    },
  )
}

/** Returns the part of the tape that belongs to the nth start of a server. */
export function nthConnection({ tape, server }: ServerOnTape, conn: number): ServerOnTape {
  // Over HTTP, a connection may be a single exchange. Over pipes, all of them are played.
  if (tape.header.servers[server]?.transport === 'http') return { tape, server }
  const ofServer = tape.turns.filter((turn) => firstMessageOf(turn)?.server === server)
  const recorded = ofServer.reduce((most, turn) => Math.max(most, firstMessageOf(turn)?.conn ?? 0), 0)
  if (conn > Math.max(recorded, 1)) throw startedTooOften(tape, server, recorded)
  return { tape: { ...tape, turns: ofServer.filter((turn) => firstMessageOf(turn)?.conn === conn) }, server }
}

function startedTooOften({ path }: Tape, server: string, recorded: number): ReelayError {
  const often = recorded === 1 ? 'once' : `${recorded} times`
  const message = `the program started the server ${server} again, but on ${path} it was started ${often}`
  return new ReelayError('REPLAY_DRIFT', message, { hint: 'record the run again' })
}

/** Gives each command or URL a unique name. */
export class ServerNames {
  readonly #names = new Map<string, string>()

  /** Returns `wanted`, with a number if another server has that name. */
  nameOf(key: string | readonly string[], wanted: string): string {
    const known = this.#names.get(JSON.stringify(key))
    if (known !== undefined) return known
    const name = this.#free(wanted)
    this.#names.set(JSON.stringify(key), name)
    return name
  }

  #free(base: string): string {
    const taken = new Set(this.#names.values())
    for (let copy = 1; ; copy++) {
      const name = copy === 1 ? base : `${base}-${copy}`
      if (!taken.has(name)) return name
    }
  }
}
