import type { Difference } from '../../diff/difference.ts'

export interface RenameComparison {
  /** Whether a name is another one only because the live server made it up anew. */
  readonly isSame: (recorded: string, live: string, path: Difference['path']) => boolean
  /** What differs in what the two names hold. */
  readonly within: (expected: unknown, actual: unknown) => readonly Difference[]
}

/** The differences, where a member that is missing and one that is new are one member under another name. */
export function mergeRenamedMembers(
  differences: readonly Difference[],
  { isSame, within }: RenameComparison,
): readonly Difference[] {
  const added = new Set(differences.filter(({ kind }) => kind === 'added'))
  if (added.size === 0 || added.size > MAX_RENAMES) return differences
  const inside: Difference[] = []
  const rest = differences.filter((removed) => {
    if (removed.kind !== 'removed') return true
    const other = [...added].find((one) => isRenamed(removed, one, isSame))
    if (other === undefined) return true
    added.delete(other)
    const path = removed.path
    for (const one of within(removed.expected, other.actual))
      inside.push({ ...one, path: [...path, ...one.path] })
    return false
  })
  return [...rest.filter((one) => one.kind !== 'added' || added.has(one)), ...inside]
}

// Each is looked for among all: a server that makes up more names at once than this is another one.
const MAX_RENAMES = 100

function isRenamed(removed: Difference, added: Difference, isSame: RenameComparison['isSame']): boolean {
  const [name, other] = [removed.path.at(-1), added.path.at(-1)]
  const [at, where] = [removed.path.slice(0, -1), added.path.slice(0, -1)]
  if (typeof name !== 'string' || typeof other !== 'string' || at.join('\n') !== where.join('\n'))
    return false
  return isSame(name, other, at)
}
