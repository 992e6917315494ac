import { EVERY_ITEM, type PathPattern } from '../json/path.ts'
import { isObject } from '../protocol/message.ts'

/** The value with another one at a path; members that are missing on the way are made. The value itself is not touched. */
export function withValueAt(value: unknown, [first, ...rest]: PathPattern, part: unknown): unknown {
  if (first === undefined) return part
  if (first === EVERY_ITEM || typeof first === 'number') {
    if (!Array.isArray(value)) return value
    const items: readonly unknown[] = value
    return items.map((item, place) =>
      first === EVERY_ITEM || first === place ? withValueAt(item, rest, part) : item,
    )
  }
  const members = isObject(value) ? Object.entries(value) : []
  const inside = isObject(value) && Object.hasOwn(value, first) ? value[first] : undefined
  return Object.fromEntries([...members, [first, withValueAt(inside, rest, part)]])
}
