import type { Binding } from '../correlate/binding.ts'
import type { Rebinder } from '../correlate/rebinder.ts'

/** What the live server calls the things that the recorded one had other names for. */
export class LiveValues {
  readonly #bindings: readonly Binding[]
  readonly #rebinder: Rebinder
  #pattern: RegExp | undefined
  #pairs: ReadonlyMap<string, string> = new Map()
  #isStale = false

  constructor(bindings: readonly Binding[], rebinder: Rebinder) {
    this.#bindings = bindings
    this.#rebinder = rebinder
  }

  /** To be called when the rebinder has learned something. */
  refresh(): void {
    this.#isStale = true
  }

  /** A recorded text as the live server would have put it. */
  in(text: string): string {
    if (this.#isStale) this.#read()
    if (this.#pattern === undefined) return text
    return text.replaceAll(this.#pattern, (recorded) => this.#pairs.get(recorded) ?? recorded)
  }

  /** A live text with the names that the tape has for things. */
  recordedIn(text: string): string {
    if (this.#isStale) this.#read()
    const back = new Map([...this.#pairs].map(([recorded, live]) => [live, recorded]))
    const pattern = patternOf([...back.keys()])
    return pattern === undefined ? text : text.replaceAll(pattern, (live) => back.get(live) ?? live)
  }

  #read(): void {
    this.#isStale = false
    const pairs = this.#bindings.flatMap((binding) => {
      const live = binding.producer.kind === 'message' ? this.#rebinder.liveValueOf(binding) : undefined
      return live === undefined || live === binding.value ? [] : [[binding.value, live] as const]
    })
    this.#pairs = new Map(pairs)
    this.#pattern = patternOf([...this.#pairs.keys()])
  }
}

// Longest first, and only whole words: `12` is not a part of `2012`.
function patternOf(values: readonly string[]): RegExp | undefined {
  if (values.length === 0) return undefined
  const longestFirst = values.toSorted((a, b) => b.length - a.length)
  const words = longestFirst.map((value) => value.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
  return new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${words.join('|')})(?![\p{L}\p{N}])`, 'gu')
}
