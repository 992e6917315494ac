import { requestHeader, type RequestHeaders } from '../headers.ts'
import { type Message, type Request, envelopeVersion } from '../message.ts'
import { revision20241007 } from './2024-10-07.ts'
import { revision20241105 } from './2024-11-05.ts'
import { revision20250326 } from './2025-03-26.ts'
import { revision20250618 } from './2025-06-18.ts'
import { revision20251125 } from './2025-11-25.ts'
import { revision20260728 } from './2026-07-28.ts'
import type { Era, RequestExchange, Revision } from './revision.ts'

/** To support another revision, add a file to this folder and a line to this list, newest first. */
let revisions: readonly Revision[] = [
  revision20260728,
  revision20251125,
  revision20250618,
  revision20250326,
  revision20241105,
  revision20241007,
]

let lookup = lookupOf(revisions)

/** Adds a revision at run time, such as a draft. Returns a function that removes it. */
export function addRevision(revision: Revision): () => void {
  setRevisions([...revisions, revision])
  return () => setRevisions(revisions.filter((each) => each !== revision))
}

function setRevisions(list: readonly Revision[]): void {
  revisions = list
  lookup = lookupOf(list)
}

interface RevisionLookup {
  readonly byVersion: ReadonlyMap<unknown, Revision>
  readonly session: RevisionGroup
  readonly stateless: RevisionGroup
  readonly openingMethods: ReadonlySet<string>
  readonly handshakeMethods: ReadonlySet<string | undefined>
}

/** Revisions of one kind, newest first. */
interface RevisionGroup {
  readonly newest: Revision
  readonly all: readonly Revision[]
  readonly versions: readonly string[]
}

function lookupOf(list: readonly Revision[]): RevisionLookup {
  return {
    byVersion: new Map(list.map((revision) => [revision.version, revision])),
    session: groupOf(list, revision20251125),
    stateless: groupOf(list, revision20260728),
    openingMethods: new Set(list.map(({ openingMethod }) => openingMethod)),
    handshakeMethods: new Set(
      list.flatMap(({ openingMethod, openedNotification }) => [openingMethod, openedNotification]),
    ),
  }
}

function groupOf(list: readonly Revision[], known: Revision): RevisionGroup {
  const all = list
    .filter(({ isStateless }) => isStateless === known.isStateless)
    .toSorted((a, b) => (a.version < b.version ? 1 : -1))
  return { all, newest: all[0] ?? known, versions: all.map(({ version }) => version) }
}

/** The newest revision in which `initialize` opens a session. */
export function newestSessionRevision(): Revision {
  return lookup.session.newest
}

export function newestStatelessRevision(): Revision {
  return lookup.stateless.newest
}

/** The versions in which `initialize` opens a session, newest first. */
export function sessionVersions(): readonly string[] {
  return lookup.session.versions
}

/** The versions without sessions, newest first. */
export function statelessVersions(): readonly string[] {
  return lookup.stateless.versions
}

/** The session-based revision of a version, or the one whose rules are likely to apply to an unknown version. */
export function sessionRevisionOf(version: unknown): Revision {
  return nearest(lookup.session, version)
}

/** The method opens a conversation in some revision. */
export function isOpeningMethod(method: string): boolean {
  return lookup.openingMethods.has(method)
}

/** The method opens a conversation, or completes its opening, in some revision. */
export function isHandshakeMethod(method: string): boolean {
  return lookup.handshakeMethods.has(method)
}

/** The version of the official schema that validates messages of a version. */
export function schemaVersionOf(version: unknown): string | undefined {
  return lookup.byVersion.get(version)?.schemaVersion
}

/**
 * The revision whose form a request has. A request without an envelope does not name its version, so this is the newest
 * session-based revision.
 */
export function revisionOfRequest(params: unknown): Revision {
  const version = envelopeVersion(params)
  return version === undefined ? lookup.session.newest : statelessRevisionOf(version)
}

/** The revision whose form a posted message has. Its header decides if the message itself has no envelope. */
export function revisionOfPost(message: Message, headers: RequestHeaders): Revision {
  const revision = revisionOfRequest('params' in message ? message.params : undefined)
  if (revision.isStateless) return revision
  return lookup.byVersion.get(requestHeader(headers, VERSION_HEADER)) ?? revision
}

const VERSION_HEADER = 'mcp-protocol-version'

/** The era of requests that carry an envelope, or of those that do not. */
export function eraOfForm(hasEnvelope: boolean): Era {
  return (hasEnvelope ? lookup.stateless : lookup.session).newest.era
}

function statelessRevisionOf(version: string): Revision {
  const known = lookup.byVersion.get(version)
  return known?.isStateless === true ? known : nearest(lookup.stateless, version)
}

/** The newest revision that is not newer than the version. Versions are dates, so they compare as texts. */
function nearest({ all, newest }: RevisionGroup, version: unknown): Revision {
  if (typeof version !== 'string') return newest
  return all.find((revision) => revision.version <= version) ?? all.at(-1) ?? newest
}

/** The revision of a conversation, as far as its messages show it. */
export interface DetectedRevision {
  /** The rules that apply; `undefined` if nothing shows which. */
  readonly revision: Revision | undefined
  /** The version that client and server agreed on, which need not be a known one. */
  readonly version: string | undefined
}

/** The revision of the first exchange that proves one. An envelope alone proves nothing: clients also send it as a probe. */
export function detectRevision(exchanges: Iterable<RequestExchange>): DetectedRevision {
  let probeFailed = false
  for (const exchange of exchanges) {
    const proven = revisionProvenBy(exchange)
    if (proven !== undefined) return proven
    probeFailed ||= isRevisionProbe(exchange.request)
  }
  return revisionWithoutProof(probeFailed)
}

export function revisionProvenBy(exchange: RequestExchange): DetectedRevision | undefined {
  return provenIn(lookup.session, exchange) ?? provenIn(lookup.stateless, exchange)
}

function provenIn(group: RevisionGroup, exchange: RequestExchange): DetectedRevision | undefined {
  for (const candidate of group.all) {
    const proof = candidate.provenBy(exchange)
    if (proof !== undefined) return { revision: nearest(group, proof.version), version: proof.version }
  }
  return undefined
}

/** Clients send such a request to find out which revision the server speaks. */
export function isRevisionProbe(request: Request): boolean {
  return revisions.some((revision) => revision.isProbe(request))
}

/** A failed probe suggests a server that needs a session. */
export function revisionWithoutProof(probeFailed: boolean): DetectedRevision {
  return { revision: probeFailed ? lookup.session.newest : undefined, version: undefined }
}
