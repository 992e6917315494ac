import { classifyMigration, type Migration } from '../../compare/migration.ts'
import { translatedLink } from '../../link/translated-link.ts'
import { isObject, type JsonObject, member } from '../../json/parse.ts'
import { META_KEYS } from '../../protocol/message.ts'
import {
  newestSessionRevision,
  newestStatelessRevision,
  sessionRevisionOf,
} from '../../protocol/revisions/index.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import { RESOURCE_NOT_FOUND } from '../../protocol/translation/forms.ts'
import type { ReplayOptions, ReplayTarget } from '../../replay/options.ts'
import { selectServerPart, type ReplayedTape, type ServerPart } from '../../replay/plan/server-part.ts'

/** A run against a server of the other era: messages are translated on their way, so that the server sees its own era, and the tape too. */
export interface OtherEra {
  readonly migration: Migration
  /** The options of the run, without what the other era cannot have. */
  readonly options: Pick<ReplayOptions, 'exclude' | 'ignore'>
  readonly translate: (target: ReplayTarget) => ReplayTarget
}

/** Returns `undefined` if the tape was recorded in the era of this version. */
export async function playAs(
  version: string | undefined,
  tape: ReplayedTape,
  { server, exclude = [], ignore = [] }: Pick<ReplayOptions, 'server' | 'exclude' | 'ignore'>,
): Promise<OtherEra | undefined> {
  if (version === undefined) return undefined
  const part = await selectServerPart(tape, server)
  const [from, to] = [part.revision.revision ?? newestSessionRevision(), revisionNamed(version)]
  if (from.isStateless === to.isStateless) return undefined
  const migration = classifyMigration(part.turns, { from: asRecorded(from, part), to })
  const impossible = migration.turns.filter(({ becomes }) => becomes === 'no equivalent')
  const notFoundCode = usesCode(part, RESOURCE_NOT_FOUND) ? RESOURCE_NOT_FOUND : undefined
  return {
    migration,
    options: {
      exclude: [
        ...exclude,
        ...impossible.flatMap(({ exchange }) => (exchange === undefined ? [] : `#${exchange}`)),
      ],
      ignore: [...ignore, ...ERA_PATHS],
    },
    translate: (target) => ({
      ...target,
      open: translatedLink(target.open, from, {
        version,
        notFoundCode,
        ...(from.isStateless && { clientCapabilities: declaredCapabilities(part) }),
        givesState: sendsState(part),
        givesContent: hasRoundsWithContent(part),
      }),
    }),
  }
}

/** The revision of a version of `--as` and `--for`. */
export function revisionNamed(version: string): Revision {
  const stateless = newestStatelessRevision()
  return version === stateless.version ? stateless : sessionRevisionOf(version)
}

function asRecorded(revision: Revision, { revision: { version } }: ServerPart): Revision {
  return version === undefined ? revision : { ...revision, version }
}

/** What servers of one era alone write into their results, and what a translation has to make up. */
const ERA_PATHS: readonly string[] = [
  'result.ttlMs',
  'result.cacheScope',
  'result.requestState',
  'result.tools[*].execution',
  'result.tools[*].inputSchema.$schema',
  'result.tools[*].outputSchema.$schema',
]

/** All capabilities that requests of the client declare. Each request of a client without sessions declares its own. */
function declaredCapabilities({ turns }: ServerPart): JsonObject {
  let all: JsonObject = {}
  for (const { trigger } of turns) {
    const meta = member(member(trigger?.message, 'params'), '_meta')
    const declared = member(meta, META_KEYS.clientCapabilities)
    if (isObject(declared)) all = mergedObjects(all, declared)
  }
  return all
}

function mergedObjects(one: JsonObject, other: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...one }
  for (const [name, value] of Object.entries(other)) {
    const known = merged[name]
    merged[name] = isObject(known) && isObject(value) ? mergedObjects(known, value) : value
  }
  return merged
}

function sendsState({ turns }: ServerPart): boolean {
  for (const { trigger } of turns)
    if (member(member(trigger?.message, 'params'), 'requestState') !== undefined) return true
  return false
}

/** Servers of mcp-go send an empty list with every round of input. */
function hasRoundsWithContent({ turns }: ServerPart): boolean {
  for (const { response } of turns) {
    const outcome = response?.message.kind === 'response' ? response.message.outcome : undefined
    const result = member(outcome, 'result')
    if (member(result, 'resultType') === 'input_required' && Array.isArray(member(result, 'content')))
      return true
  }
  return false
}

function usesCode({ turns }: ServerPart, code: number): boolean {
  for (const { response } of turns) {
    const outcome = response?.message.kind === 'response' ? response.message.outcome : undefined
    if (member(member(outcome, 'error'), 'code') === code) return true
  }
  return false
}
