import { describeValue } from '../match/describe-request.ts'
import { requestKey } from '../match/request-key.ts'
import type { RecordedRequest } from '../match/matcher.ts'
import type { Miss } from '../match/miss/miss.ts'
import { formatPath } from '../json/path.ts'

/** Why a recorded request was left over. */
export type LeftOverCause =
  | { readonly kind: 'never-asked' }
  /** A request that missed came nearest to this one: it was asked for in another form, or too early. */
  | { readonly kind: 'asked-otherwise'; readonly miss: Miss }

/** The cause of each left-over; a miss explains one of them, that which it came nearest to. */
export function leftOverCauses(
  leftOver: readonly RecordedRequest[],
  misses: readonly Miss[],
): readonly LeftOverCause[] {
  const open = missesByNearest(misses)
  return leftOver.map((request) => {
    const miss = open.size === 0 ? undefined : open.get(requestKey(request))?.shift()
    return miss === undefined ? { kind: 'never-asked' } : { kind: 'asked-otherwise', miss }
  })
}

/** Nothing for what was never asked: that is what skipping means. */
export function formatLeftOverCause(cause: LeftOverCause): string {
  if (cause.kind === 'never-asked') return ''
  const { reason, nearest } = cause.miss
  const [first, ...more] = nearest[0]?.differences ?? []
  if (first === undefined) return ` (it was asked for, and missed: ${reason})`
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  return ` (asked in another form: ${formatPath(first.path)} recorded ${formatValue(first.recorded)}, got ${formatValue(first.got)}${others})`
}

function missesByNearest(misses: readonly Miss[]): ReadonlyMap<string, Miss[]> {
  const open = new Map<string, Miss[]>()
  for (const miss of misses) {
    const nearest = miss.nearest[0]?.entry.request
    if (nearest === undefined) continue
    const key = requestKey(nearest)
    open.set(key, [...(open.get(key) ?? []), miss])
  }
  return open
}

function formatValue(value: unknown): string {
  return value === undefined ? 'nothing' : describeValue(value, 40)
}
