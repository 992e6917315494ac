import { applyReplacements } from '../redact/text-edits.ts'
import type { Redactor } from '../redact/redactor.ts'
import { normalizeName } from '../redact/rule-set.ts'
import { judgeName } from '../redact/secret-names.ts'
import { isTooShortToSign } from '../redact/shapes.ts'
import { decodeLeaf, jsonLeaves, type JsonLeaf } from '../json/leaves.ts'
import { parseJson } from '../json/parse.ts'

/** Puts values in the place of their stand-ins. What the live server made up is among them as well, once it has said it. */
export class SecretRestorer {
  readonly #redactor: Redactor
  readonly #fields: ReadonlySet<string>
  #pairs: readonly SecretPair[] = []
  #short: ReadonlyMap<string, string> = new Map()
  #count = 0

  /** `fields` are further names whose values are secrets. */
  constructor(redactor: Redactor, fields: readonly string[]) {
    this.#redactor = redactor
    this.#fields = new Set(fields.map(normalizeName))
  }

  reveal(text: string): string {
    if (this.#redactor.replacedCount !== this.#count) this.#read()
    const plain = this.#pairs.reduce((so, [standIn, value]) => so.replaceAll(standIn, () => value), text)
    return this.#short.size === 0 ? plain : this.#withShort(plain)
  }

  #read(): void {
    const { replacedValues } = this.#redactor
    this.#count = replacedValues.length
    const pairs = replacedValues.map((value): SecretPair => [this.#redactor.secret(value), value])
    this.#short = new Map(pairs.filter(([, value]) => isTooShortToSign(value)))
    this.#pairs = pairs
      .filter(([standIn, value]) => standIn !== value && !isTooShortToSign(value))
      .map(([standIn, value]) => [escaped(standIn), escaped(value)])
  }

  /** A short number may stand anywhere by chance: it is a stand-in only where a name says so. */
  #withShort(text: string): string {
    if (parseJson(text) === undefined) return text
    return applyReplacements(
      text,
      jsonLeaves(text).flatMap((leaf) => {
        const value = this.#isTold(leaf) ? this.#short.get(decodeLeaf(text, leaf)) : undefined
        if (value === undefined) return []
        return [{ start: leaf.start, end: leaf.end, text: text[leaf.start] === '"' ? `"${value}"` : value }]
      }),
    )
  }

  #isTold({ path }: JsonLeaf): boolean {
    const name = path.findLast((step) => typeof step === 'string') ?? ''
    return judgeName(name) === 'secret' || this.#fields.has(normalizeName(name))
  }
}

type SecretPair = readonly [standIn: string, value: string]

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
