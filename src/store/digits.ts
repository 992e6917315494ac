/** A number that is also kept as its ASCII digits: writing it is then a copy, where making a text costs ten times as much. */
export class DigitCounter {
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
const POINT = 46

/** Writes `{"n":…,"t":…` and returns where it ends; the caller has made room for it. */
export function writeFrameStart(target: Uint8Array, start: number, digits: Uint8Array, time: number): number {
  let at = writeAscii(target, start, '{"n":')
  for (let place = 0; place < digits.length; place++) target[at++] = digits[place]!
  return writeMilliseconds(target, writeAscii(target, at, ',"t":'), time)
}

function writeAscii(target: Uint8Array, start: number, text: string): number {
  for (let index = 0; index < text.length; index++) target[start + index] = text.charCodeAt(index)
  return start + text.length
}

/** Writes a time with its three decimals, and returns where it ends; the caller has made room for it. */
export function writeMilliseconds(target: Uint8Array, start: number, time: number): number {
  const micros = Math.round(time * 1000)
  const whole = Math.floor(micros / 1000)
  const at = writeDigits(target, start, whole, digitCount(whole))
  target[at] = POINT
  return writeDigits(target, at + 1, micros - whole * 1000, 3)
}

function digitCount(value: number): number {
  let digits = 1
  for (let limit = 10; value >= limit; limit *= 10) digits++
  return digits
}

function writeDigits(target: Uint8Array, start: number, value: number, digits: number): number {
  let rest = value
  for (let at = start + digits - 1; at >= start; at--) {
    const tenth = Math.floor(rest / 10)
    target[at] = ZERO + rest - tenth * 10
    rest = tenth
  }
  return start + digits
}
