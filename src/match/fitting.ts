import type { Form } from './form.ts'
import type { Asked } from './key.ts'
import { nameOf } from '../wire/name.ts'
import type { Recording, Shelf, Shelves } from './shelves.ts'

/** Recordings that may answer a live request, and how far their request is from it. */
export interface Fit {
  readonly shelf: Shelf
  readonly distance: number
}

interface Situation {
  readonly shelves: Shelves
  /** In milliseconds since 1970. */
  readonly times: { readonly started: number; readonly now: number }
  readonly usedOf: (shelf: Shelf) => number
}

/**
 * The recordings that answer a request: those with an answer left before others, then the nearest first, then in recorded
 * order. What was recorded as it is asked now is never answered by something else.
 */
export function fittingShelves(asked: Asked, situation: Situation): readonly Fit[] {
  const live = situation.shelves.matching.formOf(asked)
  const own = ownShelf(live, situation.shelves)
  const candidates = own === undefined ? candidatesFor(live, situation) : [own]
  const fits = candidates.flatMap((shelf) => fitOf(shelf, live, situation))
  const same = fits.filter(({ distance, shelf }) => distance === 0 && shelf.recordings.length > 0)
  const inOrder = situation.shelves.matching.strategy.inOrder === true
  return (same.length > 0 && !inOrder ? same : fits).toSorted(
    (a, b) =>
      Number(isSpent(a.shelf, situation)) - Number(isSpent(b.shelf, situation)) ||
      a.distance - b.distance ||
      frameOf(a.shelf, situation) - frameOf(b.shelf, situation),
  )
}

// Where no rule governs or ignores, the same request is one shelf, and there is no need to look further.
function ownShelf({ asked, governed, rules }: Form, shelves: Shelves): Shelf | undefined {
  if (governed.length > 0 || rules.ignore.length > 0) return undefined
  const own = shelves.ofKey(shelves.matching.keyOf(asked))
  return own !== undefined && own.recordings.length > 0 ? own : undefined
}

function candidatesFor(live: Form, { shelves, usedOf }: Situation): readonly Shelf[] {
  const group = shelves.ofGroup(shelves.matching.groupOf(live))
  const most = shelves.matching.strategy.nearestAmong
  if (most === undefined || group.length <= most) return group
  const unused = group.filter((shelf) => usedOf(shelf) < shelf.recordings.length)
  const left = unused.length > 0 ? unused : group
  const named = left.filter(({ request }) => nameOf(request) === nameOf(live.asked))
  return (named.length > 0 ? named : left).slice(0, most)
}

function fitOf(shelf: Shelf, live: Form, situation: Situation): readonly Fit[] {
  const { shelves, times } = situation
  const distance = shelves.matching.distance(shelf.form, live, {
    recorded: live.governed.length === 0 ? 0 : recordedAt(shelf, situation),
    live: times.now,
  })
  return distance === undefined ? [] : [{ shelf, distance }]
}

// To be looked up only for rules: it may stand on a disk.
function recordedAt(shelf: Shelf, { shelves, times, usedOf }: Situation): number {
  const recording = dueOn(shelf, usedOf)
  return recording === undefined ? Number.NaN : times.started + shelves.timeOf(recording)
}

function isSpent(shelf: Shelf, { usedOf }: Situation): boolean {
  return usedOf(shelf) >= shelf.recordings.length
}

function frameOf(shelf: Shelf, { usedOf }: Situation): number {
  return dueOn(shelf, usedOf)?.frame ?? shelf.request.frame
}

/** The recording that would be used next, or was used last. */
export function dueOn(shelf: Shelf, usedOf: Situation['usedOf']): Recording | undefined {
  return shelf.recordings[usedOf(shelf)] ?? shelf.recordings.at(-1)
}
