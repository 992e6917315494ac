import { detachedCopy } from '../../correlate/detached.ts'
import { isNumericText } from '../distinctness.ts'
import { isQuantityName } from '../names.ts'
import { consumerPieces, type ConsumerCandidate } from './consumer-candidates.ts'

/** What the client said, and when first: a value that it said before the server did is its own. */
export class ClientValues {
  readonly #first = new Map<string, number>()
  readonly #isKnown: (value: string) => boolean

  /** Only values that the server said too are worth remembering. */
  constructor(isKnown: (value: string) => boolean) {
    this.#isKnown = isKnown
  }

  /** Takes what the client sent, in its order. */
  add(whole: ConsumerCandidate): void {
    if (this.#isKnown(whole.value)) this.#note(whole)
    for (const piece of consumerPieces(whole, this.#isKnown)) this.#note(piece)
  }

  /** Whether the client had said the value before this frame. */
  isSentBefore(use: ConsumerCandidate, frame: number): boolean {
    return (this.#first.get(clientValueKey(use)) ?? Infinity) < frame
  }

  #note(use: ConsumerCandidate): void {
    const key = clientValueKey(use)
    if (!this.#first.has(key)) this.#first.set(detachedCopy(key), use.consumer.frame)
  }
}

// Clients count pages and set limits all the time: such a number is theirs only under the name under which they said it.
function clientValueKey({ value, names }: ConsumerCandidate): string {
  const isCounted = isNumericText(value) && (value.length < 4 || isQuantityName(names))
  return isCounted ? `${names.own.join(' ')}=${value}` : value
}
