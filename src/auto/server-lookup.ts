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

/** A server that a program wants to talk to. */
interface ServerQuery {
  /** What it is called, unless another has that name. */
  readonly name: string
  readonly isSame: (info: TapeServer) => boolean
  /** For people. */
  readonly words: string
}

export function queryForCommand(command: readonly string[]): ServerQuery {
  const text = JSON.stringify(command)
  const isSame = (info: TapeServer): boolean => JSON.stringify(info.command) === text
  return {
    name: serverName(command),
    isSame,
    words: `the command ${createThrowawayRedactor().command(command).join(' ')}`,
  }
}

export function queryForUrl(url: URL): ServerQuery {
  const isSame = (info: TapeServer): boolean =>
    info.url !== undefined && URL.canParse(info.url) && withoutQuery(new URL(info.url)) === withoutQuery(url)
  return { name: serverNameFromUrl(url), isSame, words: createThrowawayRedactor().url(url.href) }
}

function withoutQuery({ origin, pathname }: URL): string {
  return origin + pathname
}

/**
 * The tapes that one run left under one name: each process that had links wrote its own, `demo`, `demo-2`, …
 * A server is looked for in that order.
 */
export class TapeSet {
  readonly #name: string
  readonly #tapes = new Map<string, Promise<Tape>>()

  constructor(name: string) {
    this.#name = name
  }

  async findServer(wanted: ServerQuery): Promise<ServerOnTape> {
    const held: string[] = []
    for (const path of pathsOf(resolveTape(this.#name))) {
      const tape = await this.#load(path)
      const server = matchServer(tape, wanted)
      if (server !== undefined) return { tape, server }
      held.push(...Object.keys(tape.header.servers))
    }
    throw serverNotFound(this.#name, held, wanted)
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

/** By the very command or URL; else by the name that it gives the server, unless several have been given the same. */
function matchServer({ header }: Tape, { name, isSame }: ServerQuery): string | undefined {
  const servers = Object.entries(header.servers)
  const same = servers.find(([, info]) => isSame(info))
  if (same !== undefined) return same[0]
  const alike = servers.filter(([server]) => server === name || server.startsWith(`${name}-`))
  return alike.length === 1 && alike[0]?.[0] === name ? name : undefined
}

function serverNotFound(name: string, held: readonly string[], { words }: ServerQuery): ReelayError {
  return new ReelayError(
    'USAGE',
    `the tape ${name} holds no server for ${words}: it holds ${held.join(', ')}`,
    {
      hint: 'record it with REELAY_RECORD, or leave it live with REELAY_REPLAY_SERVER=<the others>',
    },
  )
}

/** The part of the tape that was recorded when the server was started for the nth time. */
export function nthConnection({ tape, server }: ServerOnTape, conn: number): ServerOnTape {
  // Over HTTP a connection may be a single exchange, and what is played over pipes is all of them.
  if (tape.header.servers[server]?.transport === 'http') return { tape, server }
  const ofServer = tape.turns.filter((turn) => firstMessageOf(turn)?.server === server)
  const recorded = ofServer.reduce((most, turn) => Math.max(most, firstMessageOf(turn)?.conn ?? 0), 0)
  if (conn > Math.max(recorded, 1)) throw startedTooOften(tape, server, recorded)
  return { tape: { ...tape, turns: ofServer.filter((turn) => firstMessageOf(turn)?.conn === conn) }, server }
}

function startedTooOften({ path }: Tape, server: string, recorded: number): ReelayError {
  const often = recorded === 1 ? 'once' : `${recorded} times`
  const message = `the server ${server} was started ${often} on ${path}, and now once more`
  return new ReelayError('REPLAY_DRIFT', message, { hint: 'record the run again, as it is now' })
}

/** Names servers: one command or URL has one name, and two never share one. */
export class ServerNames {
  readonly #names = new Map<string, string>()

  /** `wanted` is the name that it gets unless another has it. */
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
