import type { Binding } from '../correlate/binding.ts'
import { distinctnessOf } from '../correlate/distinct.ts'
import type { Rebinder } from '../correlate/rebinder.ts'

/** What the tape calls the things that the live server has other names for. */
export class RecordedNames {
  readonly #bindings: readonly Binding[]
  readonly #rebinder: Rebinder

  constructor(bindings: readonly Binding[], rebinder: Rebinder) {
    this.#bindings = bindings
    this.#rebinder = rebinder
  }

  /**
   * A live text with the names that the tape has for things. Only names that nobody makes up twice are looked for in a text:
   * a small number may as well be a count.
   */
  in(text: string): string {
    const recorded = new Map(this.#bindings.flatMap((binding) => this.#pair(binding)))
    if (recorded.size === 0) return text
    return text.replaceAll(wordsOf([...recorded.keys()]), (live) => recorded.get(live) ?? live)
  }

  #pair(binding: Binding): readonly (readonly [live: string, recorded: string])[] {
    const live = binding.producer.kind === 'message' ? this.#rebinder.liveValueOf(binding) : undefined
    if (live === undefined || live === binding.value || distinctnessOf(live) !== 'strong') return []
    return [[live, binding.value]]
  }
}

// Longest first, and only whole words: `12` is not a part of `2012`.
function wordsOf(values: readonly string[]): RegExp {
  const longestFirst = values.toSorted((a, b) => b.length - a.length)
  const words = longestFirst.map((value) => value.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${words.join('|')})(?![\p{L}\p{N}])`, 'gu')
}
