import { TURN_FLAG, type TurnKindCount } from './index/tape-index.ts'

/** How many turns there are of each kind, and which is the first. */
export function countTurnKinds(marks: Uint32Array): readonly TurnKindCount[] {
  const kinds = new Map<number, { mark: number; count: number; readonly first: number }>()
  // Turns of one kind stand in long runs: only where one ends is its kind looked up.
  for (let place = 0; place < marks.length;) {
    const mark = (marks[place] ?? 0) & ~FLAGS_OUTSIDE_KIND
    const first = place
    do place++
    while (place < marks.length && ((marks[place] ?? 0) & ~FLAGS_OUTSIDE_KIND) === mark)
    const known = kinds.get(mark)
    if (known === undefined) kinds.set(mark, { mark, count: place - first, first })
    else known.count += place - first
  }
  return [...kinds.values()]
}

const FLAGS_OUTSIDE_KIND = TURN_FLAG.enveloped | TURN_FLAG.answered | TURN_FLAG.hasSteps
