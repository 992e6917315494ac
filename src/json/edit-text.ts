import { itemRanges, memberRanges } from './find-replace.ts'
import { parseJson } from './parse.ts'
import { EVERY_ITEM, type PathPattern } from './path.ts'

type ValueChange = (value: unknown) => unknown

/**
 * Applies `change` to the value at a path of a JSON text and keeps all other bytes. Missing objects on the way are created.
 * `change` gets `undefined` if there is no value, and returns `undefined` to remove it.
 */
export function editText(
  json: string | undefined,
  path: PathPattern,
  change: ValueChange,
): string | undefined {
  const [segment, ...rest] = path
  if (segment === undefined) return changed(json, change)
  if (segment === EVERY_ITEM) return json?.startsWith('[') === true ? everyItem(json, rest, change) : json
  return typeof segment === 'number'
    ? editItem(json, segment, (item) => editText(item, rest, change))
    : editMember(json, segment, (member) => editText(member, rest, change))
}

type TextEdit = (json: string | undefined) => string | undefined

function changed(json: string | undefined, change: ValueChange): string | undefined {
  const before = json === undefined ? undefined : parseJson(json)
  const after = change(before)
  return after === before ? json : JSON.stringify(after)
}

function everyItem(json: string, rest: PathPattern, change: ValueChange): string {
  const items = itemRanges(json).flatMap(
    ({ start, end }) => editText(json.slice(start, end), rest, change) ?? [],
  )
  return `[${items.join(',')}]`
}

function editItem(json: string | undefined, place: number, edit: TextEdit): string | undefined {
  if (json?.startsWith('[') !== true) return json
  const items = itemRanges(json).map(({ start, end }) => json.slice(start, end))
  if (place > items.length) return json
  const edited = edit(items[place])
  if (edited === items[place]) return json
  return `[${items.toSpliced(place, 1, ...(edited === undefined ? [] : [edited])).join(',')}]`
}

function editMember(json: string | undefined, name: string, edit: TextEdit): string | undefined {
  if (json === undefined) {
    const made = edit(undefined)
    return made === undefined ? undefined : `{${JSON.stringify(name)}:${made}}`
  }
  if (!json.startsWith('{')) return json
  const members = memberRanges(json)
  const range = members.get(name)
  const edited = edit(range && json.slice(range.start, range.end))
  if (edited === undefined) return range === undefined ? json : withoutMember(json, name)
  if (range !== undefined) return json.slice(0, range.start) + edited + json.slice(range.end)
  const before = json.slice(0, json.lastIndexOf('}'))
  return `${before}${members.size === 0 ? '' : ','}${JSON.stringify(name)}:${edited}}`
}

function withoutMember(json: string, name: string): string {
  const others = [...memberRanges(json)].filter(([other]) => other !== name)
  return `{${others.map(([other, { start, end }]) => `${JSON.stringify(other)}:${json.slice(start, end)}`).join(',')}}`
}
