/** A number that is also kept as its ASCII digits: writing it is then a copy, where making a text costs ten times as much. */
export class Counter {
  #value = 0
  #digits: Uint8Array = Uint8Array.of(ZERO)

  get value(): number {
    return this.#value
  }

  get digits(): Uint8Array {
    return this.#digits
  }

  next(): void {
    this.#value++
    for (let place = this.#digits.length - 1; place >= 0; place--) {
      if (++this.#digits[place]! <= NINE) return
      this.#digits[place] = ZERO
    }
    this.#digits = Uint8Array.of(ONE, ...this.#digits)
  }
}

const ZERO = 48
const ONE = 49
const NINE = 57
