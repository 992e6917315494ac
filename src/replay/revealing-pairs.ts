import { applyEdits } from '../redact/edits.ts'
import type { Redactor } from '../redact/redactor.ts'
import { plainName } from '../redact/rule-set.ts'
import { judgeName } from '../redact/secret-names.ts'
import { isShort } from '../redact/shapes.ts'
import { leafText, leavesOf, type Leaf } from '../wire/leaves.ts'
import { parseJson } from '../wire/parse-json.ts'

/** Puts values in the place of their stand-ins. What the live server made up is among them as well, once it has said it. */
export class RevealingPairs {
  readonly #redactor: Redactor
  readonly #fields: ReadonlySet<string>
  #pairs: readonly Pair[] = []
  #short: ReadonlyMap<string, string> = new Map()
  #count = 0

  /** `fields` are further names whose values are secrets. */
  constructor(redactor: Redactor, fields: readonly string[]) {
    this.#redactor = redactor
    this.#fields = new Set(fields.map(plainName))
  }

  reveal(text: string): string {
    if (this.#redactor.count !== this.#count) this.#read()
    const plain = this.#pairs.reduce((so, [standIn, value]) => so.replaceAll(standIn, () => value), text)
    return this.#short.size === 0 ? plain : this.#withShort(plain)
  }

  #read(): void {
    const { replaced } = this.#redactor
    this.#count = replaced.length
    const pairs = replaced.map((value): Pair => [this.#redactor.secret(value), value])
    this.#short = new Map(pairs.filter(([, value]) => isShort(value)))
    this.#pairs = pairs
      .filter(([standIn, value]) => standIn !== value && !isShort(value))
      .map(([standIn, value]) => [escaped(standIn), escaped(value)])
  }

  /** A short number may stand anywhere by chance: it is a stand-in only where a name says so. */
  #withShort(text: string): string {
    if (parseJson(text) === undefined) return text
    return applyEdits(
      text,
      leavesOf(text).flatMap((leaf) => {
        const value = this.#isTold(leaf) ? this.#short.get(leafText(text, leaf)) : undefined
        if (value === undefined) return []
        return [{ start: leaf.start, end: leaf.end, text: text[leaf.start] === '"' ? `"${value}"` : value }]
      }),
    )
  }

  #isTold({ path }: Leaf): boolean {
    const name = path.findLast((step) => typeof step === 'string') ?? ''
    return judgeName(name) === 'secret' || this.#fields.has(plainName(name))
  }
}

type Pair = readonly [standIn: string, value: string]

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
