import { existsSync } from 'node:fs'
import { ReelayError } from '../errors.ts'
import { serverName } from '../record/header.ts'
import { numbered } from '../store/create.ts'
import { resolveTape } from '../store/home.ts'
import { loadTape, type Tape } from '../store/read.ts'

/** A server on a tape. */
export interface Part {
  readonly tape: Tape
  readonly server: string
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

  async partOf(command: readonly string[]): Promise<Part> {
    const held: string[] = []
    for (const path of pathsOf(resolveTape(this.#name))) {
      const tape = await this.#load(path)
      const server = serverOn(tape, command)
      if (server !== undefined) return { tape, server }
      held.push(...Object.keys(tape.header.servers))
    }
    throw notThere(this.#name, held, command)
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

/** By the very command; else by the name that it gives the server, unless several commands gave the same. */
function serverOn({ header }: Tape, command: readonly string[]): string | undefined {
  const servers = Object.entries(header.servers)
  const same = servers.find(([, info]) => JSON.stringify(info.command) === JSON.stringify(command))
  if (same !== undefined) return same[0]
  const name = serverName(command)
  const alike = servers.filter(([server]) => server === name || server.startsWith(`${name}-`))
  return alike.length === 1 && alike[0]?.[0] === name ? name : undefined
}

function notThere(name: string, held: readonly string[], command: readonly string[]): ReelayError {
  return new ReelayError(
    'USAGE',
    `the tape ${name} holds no server for the command ${command.join(' ')}: it holds ${held.join(', ')}`,
    { hint: 'record it with REELAY_RECORD, or leave it live with REELAY_REPLAY_SERVER=<the others>' },
  )
}
