/** The numbers of one column; positions after the last one hold 0. */
export interface NumberColumn {
  readonly length: number
  at(index: number): number
}

export type NumberArray = Float64Array | Uint32Array

/** `float64` is for offsets in files of more than 4 GiB, and for fractions. */
export type NumberType = 'uint32' | 'float64'

/**
 * A table of numbers. Each column is one typed array, so that millions of rows take a few bytes per number.
 *
 * @example
 * const calls = new NumberTable({ frame: 'float64', tool: 'uint32' })
 * const row = calls.add({ frame: 7, tool: tools.numberOf(name) })
 * calls.columns.frame.at(row) // 7
 */
export class NumberTable<Name extends string> {
  readonly columns: Readonly<Record<Name, GrowingColumn>>
  readonly #all: readonly (readonly [Name, GrowingColumn])[]

  constructor(types: Readonly<Record<Name, NumberType>>) {
    this.columns = mapRecord(types, (type) => (type === 'float64' ? float64Column() : uint32Column()))
    this.#all = entriesOf(this.columns)
  }

  get size(): number {
    return this.#all[0]?.[1].length ?? 0
  }

  /** Returns the index of the new row. Pushing to each column avoids the object, which matters for millions of rows. */
  add(row: Readonly<Record<Name, number>>): number {
    for (const [name, column] of this.#all) column.push(row[name])
    return this.size - 1
  }

  /** The rows in ascending order of one column; see `ascendingOrder`. */
  orderBy(name: Name): Uint32Array | undefined {
    return ascendingOrder(this.columns[name].toArray())
  }

  /** Copies the columns, with their rows in the given order. */
  toArrays(order?: Uint32Array): Readonly<Record<Name, NumberArray>> {
    return mapRecord(this.columns, (column) => column.toArray(order))
  }
}

class GrowingColumn<Numbers extends NumberArray = NumberArray> implements NumberColumn {
  readonly #make: (length: number) => Numbers
  #values: Numbers
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

  /** Copies the numbers, in the given order. */
  toArray(order?: Uint32Array): Numbers {
    const copy = this.#make(this.#length)
    if (order === undefined) copy.set(this.#values.subarray(0, this.#length))
    else for (let i = 0; i < copy.length; i++) copy[i] = this.at(order[i] ?? -1)
    return copy
  }

  #grow(): void {
    const wider = this.#make(this.#values.length * 2)
    wider.set(this.#values)
    this.#values = wider
  }
}

function uint32Column(): GrowingColumn<Uint32Array> {
  return new GrowingColumn((length) => new Uint32Array(length))
}

function float64Column(): GrowingColumn<Float64Array> {
  return new GrowingColumn((length) => new Float64Array(length))
}

/** The numbers of an array as a column. */
export class ArrayColumn implements NumberColumn {
  readonly #numbers: NumberArray

  constructor(numbers: NumberArray) {
    this.#numbers = numbers
  }

  get length(): number {
    return this.#numbers.length
  }

  at(index: number): number {
    return this.#numbers[index] ?? 0
  }
}

const PAGE_BITS = 12
/** The number of rows that a `PagedColumn` reads at once. */
export const PAGE_ROWS: number = 1 << PAGE_BITS

/** A column in a file. Pages are read on first use, because one answer needs only a few of a million numbers. */
export class PagedColumn implements NumberColumn {
  readonly length: number
  readonly #read: (first: number, count: number) => NumberArray
  readonly #pages: NumberArray[] = []

  constructor(length: number, read: (first: number, count: number) => NumberArray) {
    this.length = length
    this.#read = read
  }

  at(index: number): number {
    const page = this.#pages[index >>> PAGE_BITS] ?? this.#page(index)
    return page[index & (PAGE_ROWS - 1)] ?? 0
  }

  #page(index: number): NumberArray {
    if (!(index >= 0 && index < this.length)) return EMPTY_PAGE
    const number = index >>> PAGE_BITS
    const first = number * PAGE_ROWS
    const page = this.#read(first, Math.min(PAGE_ROWS, this.length - first))
    this.#pages[number] = page
    return page
  }
}

const EMPTY_PAGE = new Uint32Array(0)

/** Gives each distinct value a number, so that a column can refer to it. */
export class ValueTable<Value> {
  readonly list: Value[] = []
  readonly #numbers = new Map<string, number>()

  /** Values with the same key are the same value. */
  numberOf(key: string, value: Value): number {
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.list.length)
    return this.list.push(value) - 1
  }
}

/** The indexes of the numbers in ascending order; equal numbers keep theirs. Returns `undefined` if the numbers ascend already. */
export function ascendingOrder(numbers: NumberArray): Uint32Array | undefined {
  if (isAscending(numbers)) return undefined
  return indexesUpTo(numbers.length).toSorted((a, b) => (numbers[a] ?? 0) - (numbers[b] ?? 0) || a - b)
}

function isAscending(numbers: NumberArray): boolean {
  for (let at = 1; at < numbers.length; at++) if ((numbers[at - 1] ?? 0) > (numbers[at] ?? 0)) return false
  return true
}

/** 0, 1, 2, … */
export function indexesUpTo(count: number): Uint32Array {
  const indexes = new Uint32Array(count)
  for (let index = 0; index < count; index++) indexes[index] = index
  return indexes
}

/** Makes a new value of each member of a record, in the order of its keys. */
export function mapRecord<Name extends string, From, To>(
  record: Readonly<Record<Name, From>>,
  make: (value: From, name: Name) => To,
): Record<Name, To> {
  const made: Partial<Record<Name, To>> = {}
  for (const [name, value] of entriesOf(record)) made[name] = make(value, name)
  if (!isComplete(made, record)) throw new TypeError('a member is missing')
  return made
}

function isComplete<Name extends string, To>(
  made: Partial<Record<Name, To>>,
  record: Readonly<Record<Name, unknown>>,
): made is Record<Name, To> {
  return Object.keys(made).length === Object.keys(record).length
}

function entriesOf<Name extends string, Value>(
  record: Readonly<Record<Name, Value>>,
): readonly (readonly [Name, Value])[] {
  const entries: (readonly [Name, Value])[] = []
  for (const name in record) entries.push([name, record[name]])
  return entries
}
