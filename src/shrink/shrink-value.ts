import { isObject } from '../json/parse.ts'
import type { JsonPath } from '../json/path.ts'

interface ShrinkValueOptions {
  /** Returns true for a value that must stay as it is, for what is in it, and for what contains it. */
  readonly isFixed: (path: JsonPath) => boolean
  /** Returns true if the whole value can be replaced by this one. */
  readonly test: (candidate: unknown) => Promise<boolean>
}

/**
 * Makes a JSON value smaller: members and items are removed, texts and numbers become shorter. The length of a text, the number of
 * items and the size of a number are found by bisection, so a limit of the server shows exactly.
 */
export async function shrinkValue(root: unknown, options: ShrinkValueOptions): Promise<unknown> {
  return new ValueShrinker(root, options).shrink()
}

class ValueShrinker {
  #root: unknown
  readonly #options: ShrinkValueOptions

  constructor(root: unknown, options: ShrinkValueOptions) {
    this.#root = root
    this.#options = options
  }

  async shrink(): Promise<unknown> {
    await this.#shrinkAt([], this.#root)
    return this.#root
  }

  async #shrinkAt(path: JsonPath, value: unknown): Promise<void> {
    if (Array.isArray(value)) return this.#shrinkList(path, value)
    if (isObject(value)) return this.#shrinkObject(path, value)
    if (this.#options.isFixed(path)) return
    if (typeof value === 'string') return this.#shrinkText(path, value)
    if (typeof value === 'number') return this.#shrinkNumber(path, value)
    if (value === true) await this.#tryAt(path, false)
  }

  async #shrinkObject(path: JsonPath, value: Readonly<Record<string, unknown>>): Promise<void> {
    let members = { ...value }
    for (const name of Object.keys(members)) {
      if (this.#options.isFixed([...path, name])) continue
      const { [name]: _, ...rest } = members
      if (await this.#tryAt(path, rest)) members = rest
    }
    for (const [name, child] of Object.entries(members)) await this.#shrinkAt([...path, name], child)
  }

  async #shrinkList(path: JsonPath, value: readonly unknown[]): Promise<void> {
    let items = value
    if (!items.some((_, index) => this.#options.isFixed([...path, index]))) {
      const length = await this.#smallest(items.length, (count) => this.#tryAt(path, value.slice(0, count)))
      items = value.slice(0, length)
      for (let index = items.length - 2; index >= 0 && items.length <= MOST_SINGLE_ITEMS; index--) {
        const rest = items.toSpliced(index, 1)
        if (await this.#tryAt(path, rest)) items = rest
      }
    }
    for (const [index, child] of items.entries()) await this.#shrinkAt([...path, index], child)
  }

  async #shrinkText(path: JsonPath, value: string): Promise<void> {
    const characters = Array.from(value)
    await this.#smallest(characters.length, (length) =>
      this.#tryAt(path, characters.slice(0, length).join('')),
    )
  }

  async #shrinkNumber(path: JsonPath, value: number): Promise<void> {
    if (value === 0) return
    const whole = Math.trunc(value)
    if (whole !== value && !(await this.#tryAt(path, whole))) return
    await this.#smallest(Math.abs(whole), (size) => this.#tryAt(path, Math.sign(whole) * size || 0))
  }

  /** Finds by bisection the smallest size that still passes. The full size is known to pass. */
  async #smallest(size: number, test: (size: number) => Promise<boolean>): Promise<number> {
    let [failing, passing] = [-1, size]
    // Most values do not matter at all.
    for (const small of [0, 1]) {
      if (small >= passing) return passing
      if (await test(small)) return small
      failing = small
    }
    while (passing - failing > 1) {
      const middle = Math.floor((failing + passing) / 2)
      if (await test(middle)) passing = middle
      else failing = middle
    }
    return passing
  }

  async #tryAt(path: JsonPath, value: unknown): Promise<boolean> {
    const candidate = replacedAt(this.#root, path, value)
    if (!(await this.#options.test(candidate))) return false
    this.#root = candidate
    return true
  }
}

const MOST_SINGLE_ITEMS = 16

function replacedAt(root: unknown, [segment, ...rest]: JsonPath, value: unknown): unknown {
  if (segment === undefined) return value
  if (Array.isArray(root))
    return root.map((item, at) => (at === segment ? replacedAt(item, rest, value) : item))
  return isObject(root) ? { ...root, [segment]: replacedAt(root[segment], rest, value) } : root
}
