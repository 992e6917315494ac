import { member } from '../json/parse.ts'
import {
  detectRevision,
  isOpeningMethod,
  newestSessionRevision,
  newestStatelessRevision,
  type DetectedRevision,
} from '../protocol/revisions/index.ts'
import type { RequestExchange, Revision } from '../protocol/revisions/revision.ts'
import { readHttpFrames, type Tape } from '../store/file/read.ts'
import { selectOneServer } from '../tape/server-filter.ts'
import { preferNthSession } from './player/turn-filters.ts'
import { turnStoreOf, type Turns, type TurnStore, type Turn } from '../tape/turns.ts'

/** A tape that can be played: in memory, from `loadTape`, or on disk, from `openIndexedTape`. */
export interface PlayableTape extends Pick<Tape, 'path' | 'header' | 'matchFile'> {
  readonly turns: readonly Turn[] | Turns
  /** The other frames, among them those of HTTP. `undefined` if they have not been read. */
  readonly rest?: Tape['rest']
}

/** Returns the tape with its HTTP frames. They are read now if that is still to be done and the tape can have any. */
export async function withHttpFrames(tape: PlayableTape): Promise<PlayableTape> {
  const isOfHttp = Object.values(tape.header.servers).some(({ transport }) => transport === 'http')
  if (tape.rest !== undefined || !isOfHttp) return tape
  return { ...tape, rest: await readHttpFrames(tape.path) }
}

/** Returns the name of the server to play. */
export function resolveServer(
  { path, ...tape }: Pick<PlayableTape, 'header' | 'path' | 'turns'>,
  wanted: string | undefined,
): string {
  return selectOneServer({ path, names: serverNamesOf(tape) }, wanted)
}

/** Returns the names of the servers on a tape. */
export function serverNamesOf({ header, turns }: Pick<PlayableTape, 'header' | 'turns'>): readonly string[] {
  const named = Object.keys(header.servers)
  return named.length > 0 ? named : requestedServers(turnStoreOf(turns))
}

/** The header of a forward proxy's tape was written before its servers were known. */
function requestedServers(turns: TurnStore): readonly string[] {
  const requests = turns.kinds().filter(({ trigger }) => trigger === 'request')
  return [...new Set(requests.map(({ server }) => server))]
}

/** The tape for the nth session of a test: of equal requests, those of the nth recorded session come first. */
export function tapeOfNthSession(tape: PlayableTape, server: string, nth: number): PlayableTape {
  const isOverHttp = tape.header.servers[server]?.transport === 'http'
  return { ...tape, turns: preferNthSession(turnStoreOf(tape.turns), { server, nth, isOverHttp }) }
}

/** The protocol revision that a recorded server spoke. */
export function revisionOfServer(turns: TurnStore, server: string): DetectedRevision {
  return detectRevision(openingExchanges(turns, server))
}

/**
 * The revision that a recorded server is served in. A tape that was imported or cut may prove none: then its requests decide,
 * which carry an envelope only for a server without sessions. Returns no revision for a server without any request.
 */
export function servedRevision(turns: TurnStore, server: string): DetectedRevision {
  const detected = revisionOfServer(turns, server)
  if (detected.revision !== undefined) return detected
  let revision: DetectedRevision['revision']
  for (let place = 0; place < turns.size; place++) {
    const summary = turns.summary(place)
    if (summary.trigger !== 'request' || summary.server !== server) continue
    revision ??= newestSessionRevision()
    if (summary.enveloped && !isOpeningMethod(summary.method))
      return { revision: newestStatelessRevision(), version: undefined }
  }
  return { revision, version: undefined }
}

/** How a tape is played to clients of the other era. */
export interface PlayedAs {
  /** The revision of the clients. */
  readonly client: Revision
  /** The version of the tape. */
  readonly version: string
}

/** Returns `undefined` if the clients of this version are of the era that the tape was recorded in, or of one of its eras. */
export function playedAs(
  version: string | undefined,
  turns: TurnStore,
  server: string,
): PlayedAs | undefined {
  if (version === undefined) return undefined
  const { revision = newestSessionRevision(), version: recorded } = servedRevision(turns, server)
  const client =
    version === newestStatelessRevision().version ? newestStatelessRevision() : newestSessionRevision()
  const isDual = turns.kinds().some(({ method }) => method === 'initialize') && hasEnveloped(turns, server)
  if (client.isStateless === revision.isStateless || isDual) return undefined
  return { client, version: recorded ?? revision.version }
}

function hasEnveloped(turns: TurnStore, server: string): boolean {
  for (let place = 0; place < turns.size; place++) {
    const summary = turns.summary(place)
    if (summary.server === server && summary.enveloped && !isOpeningMethod(summary.method)) return true
  }
  return false
}

/** Only an opening, or a request with an envelope, can prove a revision. Other turns are not loaded. */
function* openingExchanges(turns: TurnStore, server: string): Generator<RequestExchange> {
  for (let place = 0; place < turns.size; place++) {
    const summary = turns.summary(place)
    if (summary.trigger !== 'request' || summary.server !== server) continue
    if (!isOpeningMethod(summary.method) && !summary.enveloped) continue
    const { trigger, response } = turns.at(place) ?? {}
    if (trigger?.message.kind !== 'request') continue
    const answer = response?.message
    yield { request: trigger.message, response: answer?.kind === 'response' ? answer : undefined }
  }
}

/** The input schemas of a server's tools, according to the recorded results of `tools/list`. */
export function recordedInputSchemas(turns: TurnStore): ReadonlyMap<string, unknown> {
  const schemas = new Map<string, unknown>()
  for (let place = 0; place < turns.size; place++) {
    if (turns.summary(place).method !== 'tools/list') continue
    for (const tool of listedTools(turns.at(place)))
      schemas.set(String(member(tool, 'name')), member(tool, 'inputSchema'))
  }
  return schemas
}

function listedTools(turn: Turn | undefined): readonly unknown[] {
  const message = turn?.response?.message
  const outcome = message?.kind === 'response' ? message.outcome : undefined
  const tools = member(member(outcome, 'result'), 'tools')
  return Array.isArray(tools) ? tools : []
}
