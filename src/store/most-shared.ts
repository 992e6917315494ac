/** So many of the places, those that share most first; of equals those that come first. */
export function highestScoring(
  places: readonly number[],
  sharedBy: (place: number) => number,
  most: number,
): readonly number[] {
  const byCount: number[][] = []
  for (const place of places) (byCount[sharedBy(place)] ??= []).push(place)
  const chosen: number[] = []
  for (const equals of byCount.toReversed()) chosen.push(...(equals ?? []).slice(0, most - chosen.length))
  return chosen
}

export function countBits(word: number): number {
  let rest = word
  let bits = 0
  for (; rest !== 0; bits++) rest &= rest - 1
  return bits
}
