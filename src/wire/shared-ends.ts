/** How many characters two texts have in common at their beginnings and, beyond these, at their ends. */
export function commonAffixLength(a: string, b: string): number {
  const shortest = Math.min(a.length, b.length)
  let head = 0
  while (head < shortest && a[head] === b[head]) head++
  let tail = 0
  while (tail < shortest - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++
  return head + tail
}
