import { detached } from './detached.ts'
import { isNumeric } from './distinct.ts'
import { namesQuantity } from './names.ts'
import { pieceUses, type Use } from './uses.ts'

/** What the client said, and when first: a value that it said before the server did is its own. */
export class ClientWords {
  readonly #first = new Map<string, number>()
  readonly #isKnown: (value: string) => boolean

  /** Only values that the server said too are worth remembering. */
  constructor(isKnown: (value: string) => boolean) {
    this.#isKnown = isKnown
  }

  /** Takes what the client sent, in its order. */
  add(whole: Use): void {
    if (this.#isKnown(whole.value)) this.#note(whole)
    for (const piece of pieceUses(whole, this.#isKnown)) this.#note(piece)
  }

  /** Whether the client had said the value before this frame. */
  saidBefore(use: Use, frame: number): boolean {
    return (this.#first.get(keyOf(use)) ?? Infinity) < frame
  }

  #note(use: Use): void {
    const key = keyOf(use)
    if (!this.#first.has(key)) this.#first.set(detached(key), use.consumer.frame)
  }
}

// Clients count pages and set limits all the time: such a number is theirs only under the name under which they said it.
function keyOf({ value, names }: Use): string {
  const isCounted = isNumeric(value) && (value.length < 4 || namesQuantity(names))
  return isCounted ? `${names.own.join(' ')}=${value}` : value
}
