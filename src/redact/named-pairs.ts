import type { JsonToken } from './json-values.ts'
import { judgeFlag } from './secret-names.ts'

/**
 * Tells the names of values, one after the other; in `{"name":"token","value":"x"}` a member has the name of another, in
 * `{"token":{"value":"x"}}` that of its owner, and in `["--token", "x"]` an item that of the option before it.
 */
export class ValueNames {
  #name = ''
  #depth = 0
  #item: string | number | undefined
  #option = ''
  #optionAt = 0
  #optionDepth = 0

  nameOf(text: string, { kind, start, end, path }: JsonToken): string {
    const member = path.at(-1)
    const isHere = path.length === this.#depth && path.at(-2) === this.#item
    if (member === 'value' && isHere && kind !== 'key') return this.#name
    if (kind === 'string' && (member === 'name' || member === 'key')) {
      this.#name = text.slice(start + 1, end - 1)
      this.#depth = path.length
      this.#item = path.at(-2)
    }
    const owner = path.at(-2)
    if (member === 'value' && kind !== 'key' && typeof owner === 'string') return owner
    if (kind === 'string' && typeof member === 'number')
      return this.#itemName(text.slice(start + 1, end - 1), path)
    return nearestName(path)
  }

  #itemName(word: string, path: JsonToken['path']): string {
    const place = Number(path.at(-1))
    const isNext = path.length === this.#optionDepth && place === this.#optionAt + 1
    const option = isNext && !word.startsWith('-') ? this.#option : ''
    this.#option = OPTION.test(word) ? word : ''
    this.#optionAt = place
    this.#optionDepth = path.length
    return option !== '' && judgeFlag(option) !== 'no' ? memberNameOf(option) : nearestName(path)
  }
}

const OPTION = /^--?[A-Za-z][\w-]{1,40}$/

/** As a member would be called that means the same. */
function memberNameOf(option: string): string {
  return judgeFlag(option) === 'secret' ? 'password' : option
}

/** The nearest name: the items of a list are called as the list is. */
function nearestName(path: JsonToken['path']): string {
  const last = Math.max(0, path.length - MAX_LIST_DEPTH)
  for (let at = path.length - 1; at >= last; at--) if (typeof path[at] === 'string') return String(path[at])
  return ''
}

/** So many lists within lists nobody makes but to keep us busy. */
const MAX_LIST_DEPTH = 64
