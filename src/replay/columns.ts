import { indexesUpTo } from '../store/columns.ts'

/** Things of which there are few, by numbers. */
export class ValueTable<Thing> {
  readonly list: Thing[] = []
  readonly #numbers = new Map<string, number>()

  numberOf(name: string, thing: Thing): number {
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    this.#numbers.set(name, this.list.length)
    return this.list.push(thing) - 1
  }
}

/** The places of the numbers in ascending order, those of equal ones as they are; undefined when they ascend already. */
export function ascendingOrder(numbers: Float64Array | Uint32Array): Uint32Array | undefined {
  if (isAscending(numbers)) return undefined
  return indexesUpTo(numbers.length).toSorted((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0) || a - b)
}

function isAscending(numbers: Float64Array | Uint32Array): boolean {
  for (let at = 1; at < numbers.length; at++) if ((numbers[at - 1] ?? 0) > (numbers[at] ?? 0)) return false
  return true
}
