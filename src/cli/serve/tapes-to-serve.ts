import type { ServeFlags } from '../options/serve-options.ts'
import { colourText } from '../output/print.ts'
import { clientConfigLine, type ClientEntry } from '../reelay-command.ts'
import type { ListenAddress } from '../../http/server/http-server.ts'
import type { ServedHttp } from '../../serve/http/serve-http.ts'
import { type PlayableTape, revisionOfServer, servedRevision } from '../../serve/playable-tape.ts'
import { createReportRedactor } from '../../serve/redaction/report-redactor.ts'
import type { ServeOptions } from '../../serve/serve-options.ts'
import type { Tape } from '../../store/file/read.ts'
import { turnStoreOf, type TurnKind, type TurnStore } from '../../tape/turns.ts'
import { escapeControlChars } from '../../text.ts'

/** The addresses of one tape over HTTP. A tape without any is served on stdin and stdout. */
export interface ServeAddresses {
  readonly http?: Partial<ListenAddress>
  readonly sse?: Partial<ListenAddress>
}

/** A tape to serve, with the selected server and the addresses. */
export interface RequestedTape extends ServeAddresses {
  /** Its name, or its path. */
  readonly name: string
  readonly server?: string
}

/** The tapes of the command line. Each has its own port: the given one, the next one, and so on. */
export function requestedTapes(
  names: readonly string[],
  { server, http, sse }: Pick<ServeFlags, 'server' | 'http' | 'sse'>,
): readonly RequestedTape[] {
  return names.map((name, at) => ({
    name,
    ...(server !== undefined && { server }),
    ...(http && { http: addressFor(http, at) }),
    ...(sse && { sse: addressFor(sse, at) }),
  }))
}

function addressFor(given: ListenAddress | true, at: number): Partial<ListenAddress> {
  if (given === true) return {}
  return { ...given, port: given.port === 0 ? 0 : given.port + at }
}

/** An opened tape with its problems and the options to serve it with. */
export interface TapeToServe extends ServeOptions {
  readonly tape: PlayableTape & Pick<Tape, 'ended' | 'problems'>
  /** Lines that name the files whose settings change how requests are matched. */
  readonly matching: readonly string[]
}

/** Prints the name of the tape, its size, its revision and its problems. */
export function announceTape({ tape, name, matching }: TapeToServe, servers: readonly string[]): void {
  const turns = turnStoreOf(tape.turns)
  const kinds = turns.kinds().filter((kind) => kind.trigger === 'request' && servers.includes(kind.server))
  const exchanges = kinds.reduce((sum, { count }) => sum + count, 0)
  const protocol = describeProtocol(turns, servers)
  printServeNote(`${name}, ${exchanges} ${exchanges === 1 ? 'exchange' : 'exchanges'}, ${protocol}`)
  const { problems, ended } = tape
  const shown = createReportRedactor()
  for (const { line, why } of problems.slice(0, MAX_WARNINGS))
    printServeWarning(`line ${line} of the tape: ${shown.text(why)}`)
  if (problems.length > MAX_WARNINGS)
    printServeWarning(`${problems.length - MAX_WARNINGS} more lines of the tape cannot be read`)
  if (!ended) printServeWarning('the tape has no end: it was cut off, or is still being recorded')
  if (holdsOnlyProbe(kinds))
    printServeWarning(
      'the tape contains only a probe (server/discover); the session that followed is on another tape',
    )
  for (const line of matching) printServeNote(shown.text(line))
}

function describeProtocol(turns: TurnStore, servers: readonly string[]): string {
  const proven = servers.map((server) => revisionOfServer(turns, server)).find((found) => found.revision)
  if (proven !== undefined)
    return [proven.revision?.era, proven.version].filter((word) => word !== undefined).join(' ')
  const assumed = servers.map((server) => servedRevision(turns, server).revision).find((found) => found)
  return assumed === undefined ? 'era unknown' : `${assumed.era}, without a handshake`
}

const MAX_WARNINGS = 5

/** SDK clients that negotiate start the server twice: once for the probe, once for the session. */
function holdsOnlyProbe(kinds: readonly TurnKind[]): boolean {
  return kinds.length > 0 && kinds.every(({ method }) => method === 'server/discover')
}

/** Prints the URLs, in lines that programs can read. Names the tape and the server if there are several. */
export function announceEndpoints(
  served: readonly (ServedHttp & { readonly name: string | undefined })[],
): void {
  if (served.some(({ isOpen }) => isOpen))
    printServeWarning('other machines can reach this server and everything on the tape')
  for (const { endpoints, name } of served) {
    const servers = new Set(endpoints.map(({ server }) => server))
    for (const { server, url } of endpoints) {
      const who = [...(name === undefined ? [] : [name]), ...(servers.size > 1 ? [server] : [])]
      printServeLine(
        escapeControlChars([...who, ...(who.length > 0 ? ['is'] : []), 'listening on', url].join(' ')),
      )
    }
  }
  for (const { server, transport, url } of served.flatMap(({ endpoints }) => endpoints))
    printServeConfig(server, { type: transport, url })
}

/** Prints the config with which a client uses the served tapes. */
export function printServeConfig(server: string, entry: ClientEntry): void {
  printServeNote(escapeControlChars(clientConfigLine(server, entry)))
}

export function printServeWarning(text: string): void {
  printServeNote(`${colourText('yellow', 'warning:')} ${text}`)
}

export function printServeNote(text: string): void {
  printServeLine(`reelay serve: ${text}`)
}

/**
 * Prints an announcement after the first round of the event loop, in which a client that is already waiting gets its response.
 * It still comes before any other line.
 */
export function announceSoon(announce: () => void): void {
  pendingAnnouncement = announce
  setImmediate(printPending)
}

let pendingAnnouncement: (() => void) | undefined

function printPending(): void {
  const announce = pendingAnnouncement
  pendingAnnouncement = undefined
  announce?.()
}

/** Prints on stderr, because stdout belongs to the protocol. */
export function printServeLine(text: string): void {
  printPending()
  process.stderr.write(`${text}\n`)
}
