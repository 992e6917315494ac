/** A list of numbers that grows, without the cost of an array of objects. */
class GrowingColumn<Numbers extends Float64Array | Uint32Array> {
  #values: Numbers
  readonly #make: (length: number) => Numbers
  #length = 0

  constructor(make: (length: number) => Numbers) {
    this.#make = make
    this.#values = make(1024)
  }

  get length(): number {
    return this.#length
  }

  push(value: number): void {
    if (this.#length === this.#values.length) this.#grow()
    this.#values[this.#length++] = value
  }

  at(index: number): number {
    return this.#values[index] ?? 0
  }

  set(index: number, value: number): void {
    this.#values[index] = value
  }

  /** The numbers and nothing behind them, in the given order. */
  toArray(order?: Uint32Array): Numbers {
    const taken = this.#make(this.#length)
    for (let i = 0; i < this.#length; i++) taken[i] = this.#values[order?.[i] ?? i] ?? 0
    return taken
  }

  #grow(): void {
    const wider = this.#make(this.#values.length * 2)
    wider.set(this.#values)
    this.#values = wider
  }
}

/** The places of so many things: 0, 1, 2 and so on. */
export function indexesUpTo(count: number): Uint32Array {
  const places = new Uint32Array(count)
  for (let place = 0; place < count; place++) places[place] = place
  return places
}

export function uint32Column(): GrowingColumn<Uint32Array> {
  return new GrowingColumn((length) => new Uint32Array(length))
}

/** For places in files of more than 4 GiB. */
export function float64Column(): GrowingColumn<Float64Array> {
  return new GrowingColumn((length) => new Float64Array(length))
}

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
