import { indexesUpTo, uint32Column, float64Column } from '../store/columns.ts'
import { ascendingOrder } from './ascending-order.ts'
import { isUnchanged, type UnchangedStep, type StepOutcome } from './as-recorded.ts'
import { ValueTable } from './columns.ts'
import type { ReplayStep } from './steps/step.ts'

/** What became of the messages of a run, in the order in which it was known: of what is as recorded only a few numbers. */
export class CompactStepRows {
  /** Those of which there is more to say. */
  readonly notable: ReplayStep[] = []
  readonly #index = uint32Column()
  /** The place among the others, from 1 on; 0 for what is as recorded. */
  readonly #notablePlace = uint32Column()
  readonly #id = uint32Column()
  readonly #sentAt = float64Column()
  readonly #duration = float64Column()
  readonly #judgedBy = uint32Column()
  readonly #rules = new ValueTable<readonly string[]>()
  #lastRule: { readonly names: readonly string[] | undefined; readonly number: number } = NO_RULE

  get size(): number {
    return this.#index.length
  }

  add(outcome: StepOutcome): void {
    const isPlain = isUnchanged(outcome)
    this.#index.push(outcome.index)
    this.#notablePlace.push(isPlain ? 0 : this.notable.push(outcome))
    this.#id.push(isPlain ? outcome.id : 0)
    this.#sentAt.push(outcome.sentAt ?? 0)
    this.#duration.push(outcome.duration ?? 0)
    this.#judgedBy.push(isPlain ? this.#ruleOf(outcome.judgedBy) : 0)
  }

  at(row: number): StepOutcome {
    const other = this.#notablePlace.at(row)
    return other === 0 ? this.#unchangedAt(row) : (this.notable[other - 1] ?? this.#unchangedAt(row))
  }

  /** Lets go of the texts of a step that is more than as recorded, and yet as it should be. */
  shorten(row: number): void {
    const other = this.#notablePlace.at(row)
    const step = other === 0 ? undefined : this.notable[other - 1]
    if (step !== undefined && step.findings.length === 0) this.notable[other - 1] = withoutTexts(step)
  }

  /** The rows in the order of the tape. */
  inOrder(): Uint32Array {
    const indexes = this.#index.toArray()
    return ascendingOrder(indexes) ?? indexesUpTo(indexes.length)
  }

  /** Mostly they are those of the step before. */
  #ruleOf(names: readonly string[]): number {
    const { names: known, number } = this.#lastRule
    if (names !== known) this.#lastRule = { names, number: this.#rules.numberOf(names.join('\n'), names) }
    return names === known ? number : this.#lastRule.number
  }

  #unchangedAt(row: number): UnchangedStep {
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

export function withoutTexts(step: ReplayStep): ReplayStep {
  return { ...step, sent: undefined, answer: undefined, recordedAnswer: undefined }
}
