/** A list of numbers that grows, without the cost of an array of objects. */
export class GrowingColumn<Numbers extends Float64Array | Uint32Array> {
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
