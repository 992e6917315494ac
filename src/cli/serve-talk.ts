import type { ServedHttp } from '../serve/http/serve-http.ts'
import { storeOf, type PlayedTape } from '../serve/played-tape.ts'
import type { ServeOptions } from '../serve/serve-options.ts'
import { tapeEra } from '../serve/tape-era.ts'
import type { Tape } from '../store/read.ts'
import type { TurnStore } from '../tape/turn-store.ts'
import { visible } from '../wire/visible.ts'
import { paint } from './paint.ts'

/** A tape, what is wrong with it, and how it is to be served. */
export interface TapeToServe extends ServeOptions {
  readonly tape: PlayedTape & Pick<Tape, 'ended' | 'problems'>
}

/** Says what is served, and what is wrong with it. */
export function announce({ tape, name }: TapeToServe, servers: readonly string[]): void {
  const turns = storeOf(tape.turns)
  const methods = servers.flatMap((server) => methodsAsked(turns, server))
  const { era, version } = servers.map((server) => tapeEra(turns, server)).find((found) => found.era) ?? {}
  const spoken =
    era === undefined ? 'era unknown' : [era, version].filter((word) => word !== undefined).join(' ')
  say(
    `reelay serve: ${name}, ${methods.length} ${methods.length === 1 ? 'exchange' : 'exchanges'}, ${spoken}`,
  )
  const { problems, ended } = tape
  for (const { line, why } of problems.slice(0, WARNINGS)) warn(`line ${line} of the tape: ${why}`)
  if (problems.length > WARNINGS) warn(`${problems.length - WARNINGS} more lines of the tape cannot be read`)
  if (!ended) warn('the tape has no end: it was cut off, or is still being recorded')
  if (isProbe(methods))
    warn(
      'the tape holds nothing but a probe (server/discover): the session that followed has a tape of its own',
    )
}

const WARNINGS = 5

/** The methods of all requests to a server. */
function methodsAsked(turns: TurnStore, server: string): readonly string[] {
  const methods: string[] = []
  for (let place = 0; place < turns.size; place++) {
    const outline = turns.outline(place)
    if (outline.trigger === 'request' && outline.server === server) methods.push(outline.method)
  }
  return methods
}

/** SDK clients that negotiate start the server twice: once to ask what it speaks, once for the session. */
function isProbe(methods: readonly string[]): boolean {
  return methods.length > 0 && methods.every((method) => method === 'server/discover')
}

/** Says where, in lines that programs may read too; the tape is named where there are several, and so is the server. */
export function sayWhere(served: readonly (ServedHttp & { readonly name: string | undefined })[]): void {
  if (served.some(({ isOpen }) => isOpen))
    warn('other machines can reach this server, and whatever the tape holds')
  for (const { endpoints, name } of served) {
    const servers = new Set(endpoints.map(({ server }) => server))
    for (const { server, url } of endpoints) {
      const who = [...(name === undefined ? [] : [name]), ...(servers.size > 1 ? [server] : [])]
      say(visible([...who, ...(who.length > 0 ? ['is'] : []), 'listening on', url].join(' ')))
    }
  }
}

function warn(text: string): void {
  say(`reelay serve: ${paint('yellow', 'warning:')} ${text}`)
}

// stdout is the protocol's alone.
export function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
