import { placesOf, wholeColumn, wideColumn } from '../store/columns.ts'
import { ascendingOrder } from './ascending-order.ts'
import { isAsRecorded, type AsRecorded, type Outcome } from './as-recorded.ts'
import { Numbered } from './numbered.ts'
import type { StepResult } from './step-result.ts'

/** What became of the messages of a run, in the order in which it was known: of what is as recorded only a few numbers. */
export class StepRows {
  /** Those of which there is more to say. */
  readonly others: StepResult[] = []
  readonly #index = wholeColumn()
  /** The place among the others, from 1 on; 0 for what is as recorded. */
  readonly #other = wholeColumn()
  readonly #id = wholeColumn()
  readonly #sentAt = wideColumn()
  readonly #duration = wideColumn()
  readonly #judgedBy = wholeColumn()
  readonly #rules = new Numbered<readonly string[]>()
  #lastRule: { readonly names: readonly string[] | undefined; readonly number: number } = NO_RULE

  get size(): number {
    return this.#index.length
  }

  add(outcome: Outcome): void {
    const isPlain = isAsRecorded(outcome)
    this.#index.push(outcome.index)
    this.#other.push(isPlain ? 0 : this.others.push(outcome))
    this.#id.push(isPlain ? outcome.id : 0)
    this.#sentAt.push(outcome.sentAt ?? 0)
    this.#duration.push(outcome.duration ?? 0)
    this.#judgedBy.push(isPlain ? this.#ruleOf(outcome.judgedBy) : 0)
  }

  at(row: number): Outcome {
    const other = this.#other.at(row)
    return other === 0 ? this.#plainAt(row) : (this.others[other - 1] ?? this.#plainAt(row))
  }

  /** Lets go of the texts of a step that is more than as recorded, and yet as it should be. */
  shorten(row: number): void {
    const other = this.#other.at(row)
    const step = other === 0 ? undefined : this.others[other - 1]
    if (step !== undefined && step.findings.length === 0) this.others[other - 1] = withoutTexts(step)
  }

  /** The rows in the order of the tape. */
  inOrder(): Uint32Array {
    const indexes = this.#index.taken()
    return ascendingOrder(indexes) ?? placesOf(indexes.length)
  }

  /** Mostly they are those of the step before. */
  #ruleOf(names: readonly string[]): number {
    const { names: known, number } = this.#lastRule
    if (names !== known) this.#lastRule = { names, number: this.#rules.numberOf(names.join('\n'), names) }
    return names === known ? number : this.#lastRule.number
  }

  #plainAt(row: number): AsRecorded {
    return {
      kind: 'as recorded',
      index: this.#index.at(row),
      id: this.#id.at(row),
      sentAt: this.#sentAt.at(row),
      duration: this.#duration.at(row),
      judgedBy: this.#rules.list[this.#judgedBy.at(row)] ?? [],
    }
  }
}

const NO_RULE = { names: undefined, number: 0 }

export function withoutTexts(step: StepResult): StepResult {
  return { ...step, sent: undefined, answer: undefined, recordedAnswer: undefined }
}
