import { isObject, type JsonObject } from '../protocol/message.ts'

/** The member that tells the items of two lists apart: id-like by name, there in every item, unique on each side. */
export function findIdentityKey(
  expected: readonly unknown[],
  actual: readonly unknown[],
): string | undefined {
  const [left, right] = [allObjects(expected), allObjects(actual)]
  if (left === undefined || right === undefined) return undefined
  const names = Object.keys(left[0] ?? {}).filter((name) => ID_LIKE.test(name))
  return names
    .toSorted((a, b) => identityRank(a) - identityRank(b))
    .find((name) => identifiesItems(name, left, right))
}

const ID_LIKE = /^(id|uuid|guid|uri|url|key|slug|path|name|title)$|(Id|_id|Key|_key|Uri|_uri)$/
const BEST_FIRST = ['id', 'uuid', 'guid', 'uri', 'url', 'key', 'slug', 'path', 'name', 'title']

function identityRank(name: string): number {
  const place = BEST_FIRST.indexOf(name)
  return place < 0 ? 3.5 : place
}

function allObjects(items: readonly unknown[]): readonly JsonObject[] | undefined {
  return items.length > 0 && items.every(isObject) ? items : undefined
}

// When hardly a value is on both sides, the ids themselves have changed, and say nothing about which item is which.
function identifiesItems(name: string, left: readonly JsonObject[], right: readonly JsonObject[]): boolean {
  const [ours, theirs] = [memberValues(name, left), memberValues(name, right)]
  if (ours === undefined || theirs === undefined) return false
  const shared = [...ours].filter((value) => theirs.has(value)).length
  return shared * 2 >= Math.min(ours.size, theirs.size)
}

function memberValues(name: string, items: readonly JsonObject[]): ReadonlySet<string | number> | undefined {
  const values = new Set<string | number>()
  for (const item of items) {
    const value = Object.hasOwn(item, name) ? item[name] : undefined
    if (typeof value !== 'string' && typeof value !== 'number') return undefined
    values.add(value)
  }
  return values.size === items.length ? values : undefined
}
