import { existsSync } from 'node:fs'
import { ReelayError } from '../errors.ts'
import { serverName } from '../record/server-name.ts'
import { nameOfUrl } from '../record/url-tape.ts'
import { screenRedactor } from '../serve/screen.ts'
import { numbered } from '../store/create.ts'
import { resolveTape } from '../store/home.ts'
import { loadTape, type Tape } from '../store/read.ts'
import type { ServerInfo } from '../tape/header.ts'

/** A server on a tape. */
export interface Part {
  readonly tape: Tape
  readonly server: string
}

/** A server that a program wants to talk to. */
export interface Wanted {
  /** What it is called, unless another has that name. */
  readonly name: string
  readonly isSame: (info: ServerInfo) => boolean
  /** For people. */
  readonly words: string
}

export function wantedCommand(command: readonly string[]): Wanted {
  const text = JSON.stringify(command)
  const isSame = (info: ServerInfo): boolean => JSON.stringify(info.command) === text
  return {
    name: serverName(command),
    isSame,
    words: `the command ${screenRedactor().command(command).join(' ')}`,
  }
}

export function wantedUrl(url: URL): Wanted {
  const isSame = (info: ServerInfo): boolean =>
    info.url !== undefined && URL.canParse(info.url) && withoutQuery(new URL(info.url)) === withoutQuery(url)
  return { name: nameOfUrl(url), isSame, words: screenRedactor().url(url.href) }
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

  async partOf(wanted: Wanted): Promise<Part> {
    const held: string[] = []
    for (const path of pathsOf(resolveTape(this.#name))) {
      const tape = await this.#load(path)
      const server = serverOn(tape, wanted)
      if (server !== undefined) return { tape, server }
      held.push(...Object.keys(tape.header.servers))
    }
    throw notThere(this.#name, held, wanted)
  }

  #load(path: string): Promise<Tape> {
    const loading = this.#tapes.get(path) ?? loadTape(path)
    this.#tapes.set(path, loading)
    return loading
  }
}

function pathsOf(path: string): readonly string[] {
  const paths = [path]
  for (let next = numbered(path, 2); existsSync(next); next = numbered(path, paths.length + 1))
    paths.push(next)
  return paths
}

/** By the very command or URL; else by the name that it gives the server, unless several have been given the same. */
function serverOn({ header }: Tape, { name, isSame }: Wanted): string | undefined {
  const servers = Object.entries(header.servers)
  const same = servers.find(([, info]) => isSame(info))
  if (same !== undefined) return same[0]
  const alike = servers.filter(([server]) => server === name || server.startsWith(`${name}-`))
  return alike.length === 1 && alike[0]?.[0] === name ? name : undefined
}

function notThere(name: string, held: readonly string[], { words }: Wanted): ReelayError {
  return new ReelayError(
    'USAGE',
    `the tape ${name} holds no server for ${words}: it holds ${held.join(', ')}`,
    {
      hint: 'record it with REELAY_RECORD, or leave it live with REELAY_REPLAY_SERVER=<the others>',
    },
  )
}
