import type { JsonPath } from '../../json/path.ts'
import type { Binding, TapeLocation, BindingProducer } from '../binding.ts'
import { distinctnessOf } from '../distinctness.ts'
import { nameWords } from '../names.ts'
import { labelWordsBefore, findPieces, type TextPiece } from '../values.ts'

/** Which live values stand for which recorded ones, and where that is believed. */
export class LiveValues {
  readonly #known = new Map<string, KnownLiveValue[]>()

  learn(binding: Binding, live: string): void {
    const words = new Set([binding.producer, ...binding.consumers].flatMap(locationWords))
    this.#add(binding.value, { live, words, isDistinct: distinctnessOf(binding.value) === 'strong' })
  }

  /** What was sent in the place of a text that is composed of such values: the server may say it back. */
  learnComposed(recorded: string, live: string): void {
    if (distinctnessOf(recorded) === 'strong')
      this.#add(recorded, { live, words: new Set(), isDistinct: true })
  }

  /**
   * Whether two texts or numbers at a path differ in nothing but values that the live server made up anew. A small number or
   * a plain word is one only under a name that its binding has, because any count may happen to be the same number.
   */
  explains(expected: unknown, actual: unknown, path: JsonPath): boolean {
    if (!isScalar(expected) || !isScalar(actual)) return false
    const [recorded, live] = [String(expected), String(actual)]
    const names = nameWords(path.findLast((step) => typeof step === 'string') ?? '')
    if (this.#liveFormsOf(recorded, names).includes(live)) return true
    return recorded !== live && this.#translate(recorded, names) === live
  }

  #add(recorded: string, known: KnownLiveValue): void {
    const list = this.#known.get(recorded) ?? []
    this.#known.set(recorded, [...list.filter(({ live }) => live !== known.live), known])
  }

  /** The recorded text with every value that is known to be another one now in its live form. */
  #translate(text: string, names: readonly string[]): string {
    let translated = ''
    let at = 0
    for (const { start, end } of dropOverlaps(findPieces(text, (piece) => this.#known.has(piece)))) {
      const label = labelWordsBefore(text, start).flatMap(nameWords)
      const live = this.#liveFormsOf(text.slice(start, end), [...names, ...label]).at(-1)
      translated += text.slice(at, start) + (live ?? text.slice(start, end))
      at = end
    }
    return translated + text.slice(at)
  }

  #liveFormsOf(recorded: string, names: readonly string[]): readonly string[] {
    return (this.#known.get(recorded) ?? [])
      .filter(({ isDistinct, words }) => isDistinct || names.some((name) => words.has(name)))
      .map(({ live }) => live)
  }
}

interface KnownLiveValue {
  readonly live: string
  /** The words by which the value goes, where it was said and where it was sent. */
  readonly words: ReadonlySet<string>
  readonly isDistinct: boolean
}

/** The words of the last names on the way to a place: `issue.id` is issue, id. */
function locationWords(place: BindingProducer | TapeLocation): readonly string[] {
  if ('kind' in place && place.kind === 'clock') return []
  const inner = place.inside.flatMap((lens) => (lens.kind === 'json' ? lens.path : []))
  const names = [...place.path.slice(1), ...inner].filter((step) => typeof step === 'string')
  return names
    .filter((name) => !CONTAINER_NAMES.has(name))
    .slice(-2)
    .flatMap(nameWords)
}

const CONTAINER_NAMES: ReadonlySet<string> = new Set(['arguments', 'structuredContent', 'content', 'text'])

/** The longest came first: what lies within one that was taken is not taken again. */
function dropOverlaps(pieces: readonly TextPiece[]): readonly TextPiece[] {
  const taken: TextPiece[] = []
  for (const one of pieces)
    if (!taken.some(({ start, end }) => one.start < end && start < one.end)) taken.push(one)
  return taken.toSorted((a, b) => a.start - b.start)
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}
