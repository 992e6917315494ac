import { piecesOf } from './pieces.ts'

/** Which live value stands for which recorded one. */
export class LiveValues {
  readonly #live = new Map<string, string>()

  set(recorded: string, live: string): void {
    this.#live.set(recorded, live)
  }

  /** Whether two texts or numbers differ in nothing but values that the live server made up anew. */
  explain(expected: unknown, actual: unknown): boolean {
    if (!isScalar(expected) || !isScalar(actual)) return false
    return this.#translated(String(expected)) === String(actual)
  }

  /** The recorded text with every value that is known to be another one now in its live form. */
  #translated(text: string): string {
    const whole = this.#live.get(text)
    if (whole !== undefined) return whole
    const known = piecesOf(text)
      .map((piece) => ({ ...piece, live: this.#live.get(text.slice(piece.start, piece.end)) }))
      .filter(({ live }) => live !== undefined)
    let translated = ''
    let at = 0
    for (const { start, end, live } of withoutOverlap(known)) {
      translated += text.slice(at, start) + live
      at = end
    }
    return translated + text.slice(at)
  }
}

interface Stretch {
  readonly start: number
  readonly end: number
}

/** The longest came first: what lies within one that was taken is not taken again. */
function withoutOverlap<Item extends Stretch>(stretches: readonly Item[]): readonly Item[] {
  const taken: Item[] = []
  for (const one of stretches)
    if (!taken.some(({ start, end }) => one.start < end && start < one.end)) taken.push(one)
  return taken.toSorted((a, b) => a.start - b.start)
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
