import { createDiffer } from '../diff/diff.ts'
import type { Difference } from '../diff/difference.ts'
import { isObject, member } from '../json/parse.ts'
import { formatPath } from '../json/path.ts'
import { META_KEYS, metaValue } from '../protocol/message.ts'
import { isOpeningMethod } from '../protocol/revisions/index.ts'

/** One way in which the live server introduces itself differently. */
export interface IdentityChange {
  /** One sentence. */
  readonly message: string
  /** Such as `serverInfo.version`. */
  readonly path: string
  readonly expected: unknown
  readonly actual: unknown
}

/**
 * Compares how the live server introduces itself with the recorded introduction: name, version, protocol revision, capabilities and
 * instructions. A legacy server does that once, in its handshake. A modern server repeats its name and version in every result, so
 * each change is reported only the first time.
 */
export class ServerIdentity {
  readonly #onChange: (change: IdentityChange) => void
  readonly #reported = new Set<string>()

  constructor(onChange: (change: IdentityChange) => void) {
    this.#onChange = onChange
  }

  /** Compares two results of a handshake. */
  compareOpenings(recorded: unknown, live: unknown): void {
    if (recorded === undefined || live === undefined) return
    const [then, now] = [recorded, live].map((result) => member(result, 'protocolVersion'))
    if (then !== now)
      this.#report({
        message: `the server speaks ${String(now)}, recorded ${String(then)}`,
        path: 'protocolVersion',
        expected: then,
        actual: now,
      })
    this.#compareInfo(serverInfoIn(recorded), serverInfoIn(live))
    const differences = DIFFER.values(announcedFeatures(recorded), announcedFeatures(live))
    for (const difference of differences.slice(0, MAX_CHANGES)) this.#report(featureChange(difference))
  }

  /** Compares the names and versions in the results of any request. A result without them says nothing. */
  compareResults(recorded: unknown, live: unknown): void {
    const [then, now] = [recorded, live].map((result) => metaValue(result, META_KEYS.serverInfo))
    if (then !== undefined && now !== undefined) this.#compareInfo(then, now)
  }

  #compareInfo(then: unknown, now: unknown): void {
    const differences = DIFFER.values(then ?? {}, now ?? {})
    if (differences.length === 0) return
    const [before, live] = [displayName(then), displayName(now)]
    if (before !== live)
      this.#report({
        message: `the server is ${live}, recorded ${before}`,
        path: 'serverInfo',
        expected: then,
        actual: now,
      })
    const others = differences.filter(({ path }) => path[0] !== 'name' && path[0] !== 'version')
    for (const difference of others.slice(0, MAX_CHANGES))
      this.#report(featureChange({ ...difference, path: ['serverInfo', ...difference.path] }))
  }

  #report(change: IdentityChange): void {
    if (this.#reported.has(change.message)) return
    this.#reported.add(change.message)
    this.#onChange(change)
  }
}

/** Returns true if a difference at this path of a response is about the identity of the server, which is compared by `ServerIdentity`. */
export function isIdentityDifference({ path, expected, actual }: Difference, method: string): boolean {
  const [root, name, key] = path
  if (root !== 'result') return false
  if (name === '_meta' && path.length === 2) return isOnlyServerInfo(expected ?? actual)
  if (name === '_meta') return key === META_KEYS.serverInfo
  return typeof name === 'string' && IDENTITY_MEMBERS.has(name) && isOpeningMethod(method)
}

const IDENTITY_MEMBERS: ReadonlySet<string> = new Set(['serverInfo', 'capabilities', 'instructions'])

function isOnlyServerInfo(meta: unknown): boolean {
  return isObject(meta) && Object.keys(meta).every((name) => name === META_KEYS.serverInfo)
}

const DIFFER = createDiffer({ order: 'kept' })

/** A different server differs in everything; the first differences are enough to see that. */
const MAX_CHANGES = 5

function serverInfoIn(result: unknown): unknown {
  return member(result, 'serverInfo') ?? metaValue(result, META_KEYS.serverInfo)
}

function displayName(info: unknown): string {
  return `${String(member(info, 'name'))} ${String(member(info, 'version'))}`
}

/** The parts of the handshake that a client relies on. */
function announcedFeatures(result: unknown): unknown {
  const [capabilities, instructions] = [member(result, 'capabilities'), member(result, 'instructions')]
  return { capabilities: capabilities ?? {}, instructions: instructions ?? '' }
}

function featureChange({ kind, path, expected, actual }: Difference): IdentityChange {
  const at = formatPath(path)
  return {
    message: `in the introduction of the server, ${at} ${CHANGE_WORDS[kind]}`,
    path: at,
    expected,
    actual,
  }
}

const CHANGE_WORDS: Readonly<Record<Difference['kind'], string>> = {
  added: 'is new',
  removed: 'is missing',
  changed: 'has changed',
  type: 'has changed',
  renamed: 'has a member with another name',
  order: 'has another order',
  format: 'has another format',
}
