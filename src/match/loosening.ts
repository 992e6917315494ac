import { requestKey, type Asked } from './key.ts'
import type { Candidate } from './nearest.ts'
import { formatPath, parsePath, type Path } from '../wire/path.ts'
import type { Matcher, RecordedRequest } from './matcher.ts'

/** The options under which a request that missed would have been answered. */
export interface Loosening {
  readonly ignore: readonly string[]
  readonly permissive: boolean
  /** How many recorded requests, different until now, would then count as the same. */
  readonly merged: number
}

/**
 * Accepts the difference to a candidate. The options are tried before they are advised: none are given that would leave
 * the request a miss. `claims` says how many earlier misses came nearest to an entry: they will want an answer too.
 */
export function acceptDifference(
  asked: Asked,
  candidate: Candidate,
  index: Matcher,
  claims: ReadonlyMap<RecordedRequest, number>,
): Loosening | undefined {
  const ignore = [...index.ignore, ...pathsToIgnore(candidate)]
  const key = requestKey(asked, ignore)
  const merged = index
    .entries()
    .filter(({ request }) => request.method === asked.method && requestKey(request, ignore) === key)
  if (!merged.some(({ request }) => request === candidate.entry.request)) return undefined
  const answers = sum(merged, (entry) => entry.answers)
  const wanted = sum(merged, (entry) => entry.used + (claims.get(entry.request) ?? 0)) + 1
  return {
    ignore: ignore.map(formatPath),
    permissive: index.permissive || wanted > answers,
    merged: merged.length,
  }
}

/** Accepts that a request is asked more often than it was recorded. */
export function acceptRepeats(index: Matcher): Loosening {
  return { ignore: index.ignore.map(formatPath), permissive: true, merged: 1 }
}

const MANY = 6
const ARGUMENT_DEPTH = 3

// Many differing fields are named by the few arguments that hold them, so that the advice stays short enough to paste.
function pathsToIgnore({ differences }: Candidate): readonly Path[] {
  const paths = differences.map(({ path }) => path)
  if (paths.length <= MANY) return paths
  const held = new Set(paths.map((path) => formatPath(path.slice(0, ARGUMENT_DEPTH))))
  return [...held].map(parsePath)
}

function sum<T>(items: readonly T[], count: (item: T) => number): number {
  return items.reduce((total, item) => total + count(item), 0)
}
