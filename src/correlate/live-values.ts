import { piecesOf, type Piece } from './pieces.ts'

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
    let translated = ''
    let at = 0
    for (const { start, end } of withoutOverlap(piecesOf(text, (piece) => this.#live.has(piece)))) {
      translated += text.slice(at, start) + this.#live.get(text.slice(start, end))
      at = end
    }
    return translated + text.slice(at)
  }
}

/** The longest came first: what lies within one that was taken is not taken again. */
function withoutOverlap(pieces: readonly Piece[]): readonly Piece[] {
  const taken: Piece[] = []
  for (const one of pieces)
    if (!taken.some(({ start, end }) => one.start < end && start < one.end)) taken.push(one)
  return taken.toSorted((a, b) => a.start - b.start)
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
