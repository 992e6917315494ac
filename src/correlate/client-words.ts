import { isNumeric } from './distinct.ts'
import { isLong } from './pieces.ts'
import type { LeafUses, Use } from './uses.ts'

/** What the client said, and when first: a value that it said before the server did is its own. */
export class ClientWords {
  readonly #first = new Map<string, number>()
  readonly #long: { readonly text: string; readonly frame: number }[] = []

  add({ whole, pieces }: LeafUses): void {
    for (const use of [whole, ...pieces]) this.#note(use)
    if (isLong(whole.value)) this.#long.push({ text: whole.value, frame: whole.consumer.frame })
  }

  /** Whether the client had said the value before this frame. */
  saidBefore(use: Use, frame: number): boolean {
    if ((this.#first.get(keyOf(use)) ?? Infinity) < frame) return true
    return this.#long.some((one) => one.frame < frame && one.text.includes(use.value))
  }

  #note(use: Use): void {
    const key = keyOf(use)
    if (!this.#first.has(key)) this.#first.set(key, use.consumer.frame)
  }
}

// Clients count pages and set limits all the time: a small number is theirs only under the name under which they said it.
function keyOf({ value, names }: Use): string {
  const isSmall = isNumeric(value) && value.length < 4
  return isSmall ? `${names.own.join(' ')}=${value}` : value
}
