import type { Differ } from '../diff.ts'
import type { Difference } from '../difference.ts'
import type { IsLiveValue, NoiseKind } from './noise-kind.ts'

/**
 * Members whose name is a value that the live server generated: one member is missing, another is new, and both are the
 * same member. Their contents are compared instead.
 */
export const renamedMembers: NoiseKind = {
  name: 'renamed-member',
  separate(differences, { isLiveValue, differ }) {
    const added = new Set(differences.filter(({ kind }) => kind === 'added'))
    if (isLiveValue === undefined || differ === undefined || added.size === 0 || added.size > MAX_RENAMES)
      return { kept: differences, suppressed: [] }
    const suppressed = new Set<Difference>()
    const inside: Difference[] = []
    for (const removed of differences) {
      const renamed =
        removed.kind === 'removed'
          ? [...added].find((one) => isRenamed(removed, one, isLiveValue))
          : undefined
      if (renamed === undefined) continue
      added.delete(renamed)
      suppressed.add(removed).add(renamed)
      inside.push(...differencesInside(removed, renamed, differ))
    }
    return {
      kept: [...differences.filter((one) => !suppressed.has(one)), ...inside],
      suppressed: Array.from(suppressed, (difference) => ({ difference, noise: renamedMembers.name })),
    }
  },
}

// Every missing member is compared with every new one. More new members than this are a change, not a renaming.
const MAX_RENAMES = 100

function isRenamed(removed: Difference, added: Difference, isLiveValue: IsLiveValue): boolean {
  const [recordedName, liveName] = [removed.path.at(-1), added.path.at(-1)]
  if (typeof recordedName !== 'string' || typeof liveName !== 'string') return false
  const [parent, otherParent] = [removed.path.slice(0, -1), added.path.slice(0, -1)]
  return parent.join('\n') === otherParent.join('\n') && isLiveValue(recordedName, liveName, parent)
}

function differencesInside(removed: Difference, added: Difference, differ: Differ): readonly Difference[] {
  return differ
    .values(removed.expected, added.actual)
    .map((inside) => ({ ...inside, path: [...removed.path, ...inside.path] }))
}
