/** Numbers in memory, as they stand in an index file too. */
export type NumberArray = Float64Array | Uint32Array

/** Numbers by their place; beyond the last there are zeros. */
export interface NumberColumn {
  readonly length: number
  at(place: number): number
}

/** Numbers that are in memory already. */
export class ArrayColumn implements NumberColumn {
  readonly #numbers: NumberArray

  constructor(numbers: NumberArray) {
    this.#numbers = numbers
  }

  get length(): number {
    return this.#numbers.length
  }

  at(place: number): number {
    return this.#numbers[place] ?? 0
  }
}

const PAGE_BITS = 12
const PAGE_ROWS = 1 << PAGE_BITS

/** Numbers that are read when they are first looked at, a page at a time: a single answer needs a few of a million. */
export class PagedColumn implements NumberColumn {
  readonly length: number
  readonly #read: (first: number, count: number) => NumberArray
  readonly #pages: NumberArray[] = []

  constructor(length: number, read: (first: number, count: number) => NumberArray) {
    this.length = length
    this.#read = read
  }

  at(place: number): number {
    const page = this.#pages[place >>> PAGE_BITS] ?? this.#page(place)
    return page[place & (PAGE_ROWS - 1)] ?? 0
  }

  #page(place: number): NumberArray {
    if (!(place >= 0 && place < this.length)) return EMPTY_PAGE
    const number = place >>> PAGE_BITS
    const first = number * PAGE_ROWS
    const page = this.#read(first, Math.min(PAGE_ROWS, this.length - first))
    this.#pages[number] = page
    return page
  }
}

const EMPTY_PAGE = new Uint32Array(0)
