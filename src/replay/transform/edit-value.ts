import { isObject } from '../../wire/message.ts'
import { EVERY, type Path, type Segment } from '../../wire/path.ts'

/** A copy of a JSON value in which `change` has been applied to what stands at a path; `undefined` takes it away. */
export function editAt(value: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [segment, ...rest] = path
  if (segment === undefined) return change(value)
  if (segment === EVERY) return Array.isArray(value) ? value.map((item) => editAt(item, rest, change)) : value
  return typeof segment === 'number'
    ? editItem(value, segment, rest, change)
    : editMember(value, segment, rest, change)
}

function editItem(value: unknown, place: number, rest: Path, change: (value: unknown) => unknown): unknown {
  if (!Array.isArray(value) || place > value.length) return value
  const edited = editAt(value[place], rest, change)
  return edited === undefined ? value.toSpliced(place, 1) : value.toSpliced(place, 1, edited)
}

// Built from entries: a member named __proto__ stays a member.
function editMember(value: unknown, name: string, rest: Path, change: (value: unknown) => unknown): unknown {
  if (value !== undefined && !isObject(value)) return value
  const members = new Map(Object.entries(value ?? {}))
  const edited = editAt(members.get(name), rest, change)
  if (edited === undefined) members.delete(name)
  else members.set(name, edited)
  return Object.fromEntries(members)
}

/** Every value that stands at a path. */
export function valuesAt(value: unknown, path: Path): readonly unknown[] {
  return path.reduce<readonly unknown[]>(
    (found, segment) => found.flatMap((one) => childrenAt(one, segment)),
    [value],
  )
}

function childrenAt(value: unknown, segment: Segment): readonly unknown[] {
  if (segment === EVERY) return Array.isArray(value) ? value : []
  if (typeof segment === 'number')
    return Array.isArray(value) && segment < value.length ? [value[segment]] : []
  return isObject(value) && Object.hasOwn(value, segment) ? [value[segment]] : []
}
