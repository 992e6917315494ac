import type { JsonToken } from './json-values.ts'

/** Tells the names of values, one after the other; in `{"name":"token","value":"x"}` a member has the name of another. */
export class NamedPairs {
  #name = ''
  #depth = 0
  #item: string | number | undefined

  nameOf(text: string, { kind, start, end, path }: JsonToken): string {
    const member = path.at(-1)
    const isHere = path.length === this.#depth && path.at(-2) === this.#item
    if (member === 'value' && isHere && kind !== 'key') return this.#name
    if (kind === 'string' && (member === 'name' || member === 'key')) {
      this.#name = text.slice(start + 1, end - 1)
      this.#depth = path.length
      this.#item = path.at(-2)
    }
    return nearestName(path)
  }
}

/** The nearest name: the items of a list are called as the list is. */
function nearestName(path: JsonToken['path']): string {
  const last = Math.max(0, path.length - LOOKED_AT)
  for (let at = path.length - 1; at >= last; at--) if (typeof path[at] === 'string') return String(path[at])
  return ''
}

/** So many lists within lists nobody makes but to keep us busy. */
const LOOKED_AT = 64
