import { base64Forms } from './base64.ts'

/** Values that are secret wherever they stand. */
export class KnownValues {
  readonly #values = new Set<string>()
  #pattern: RegExp | undefined

  get size(): number {
    return this.#values.size
  }

  get all(): readonly string[] {
    return [...this.#values]
  }

  has(value: string): boolean {
    return this.#values.has(value)
  }

  /** Whether the value is new. */
  add(value: string): boolean {
    if (this.#values.has(value)) return false
    this.#values.add(value)
    this.#pattern = undefined
    return true
  }

  /** Where known values stand in a text. */
  find(text: string): readonly { readonly start: number; readonly end: number }[] {
    if (this.#values.size === 0) return []
    this.#pattern ??= alternationOf([...this.#values])
    return [...text.matchAll(this.#pattern)].map(({ 0: { length }, index }) => ({
      start: index,
      end: index + length,
    }))
  }
}

/** How a value may be spelled where it stands in something else; each is as sure a sign of it as the value itself. */
export function encodedForms(value: string): readonly string[] {
  const escaped = escapeForJson(value)
  const percent = encodeURIComponent(/[\ud800-\udfff]/.test(value) ? value.replaceAll(/\p{Cs}/gu, '') : value)
  const bytes = String.fromCharCode(...new TextEncoder().encode(value.slice(0, MAX_ENCODED_LENGTH)))
  return [
    ...new Set([
      value,
      escaped,
      escapeForJson(escaped),
      asciiOnly(escaped),
      percent,
      percent.replaceAll(/%../g, (code) => code.toLowerCase()),
      ...base64Forms(bytes),
    ]),
  ]
}

/** Of a long value its beginning is sign enough. */
const MAX_ENCODED_LENGTH = 48

function escapeForJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** As Python and Go write it. */
function asciiOnly(escaped: string): string {
  return escaped.replaceAll(
    /[^\x20-\x7e]|[<>&]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** The long ones first, so that of two values of which one holds the other the longer is found. */
function alternationOf(values: readonly string[]): RegExp {
  const sorted = values.toSorted((a, b) => b.length - a.length)
  return new RegExp(sorted.map((value) => value.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
}
