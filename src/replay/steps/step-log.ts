import { ascendingOrder, ValueTable } from '../columns.ts'
import type { ReplayPlan } from '../plan/plan.ts'
import type { StepView } from '../report.ts'
import {
  isUnchanged,
  expandStep,
  type StepOutcome,
  hasFailed,
  type ReplayStep,
  type UnchangedStep,
} from './step.ts'
import { indexesUpTo, uint32Column, float64Column } from '../../store/columns.ts'

interface StepLogOptions {
  /** So many results may wait for whoever reads them. */
  readonly most?: number | undefined
  /** After so many steps, the texts of those that are as recorded are not kept. */
  readonly keepTexts?: number
}

// However few steps there are: answers may be long.
const MOST_CHARACTERS = 64 * 1024 * 1024

/** The results of a run: given out once as they come, and kept for the report. */
export class StepLog implements AsyncIterable<ReplayStep> {
  readonly rows: CompactStepRows = new CompactStepRows()
  readonly #most: number
  readonly #keepTexts: number
  #plan: ReplayPlan | undefined
  /** How many were given out. */
  #taken = 0
  #characters = 0
  #isRead = false
  #isClosed = false
  #failure: { readonly error: unknown } | undefined
  #onStep: (() => void) | undefined
  #onRoom: (() => void)[] = []

  constructor({ most = Infinity, keepTexts = Infinity }: StepLogOptions = {}) {
    this.#most = most
    this.#keepTexts = keepTexts
  }

  /** What the steps are of. */
  setPlan(plan: ReplayPlan): void {
    this.#plan = plan
  }

  push(outcome: StepOutcome): void {
    this.rows.add(outcome)
    if (!this.#isRead) this.#dropTexts(this.rows.size - 1, outcome)
    this.#wakeReader()
  }

  close(): void {
    this.#isClosed = true
    this.#wakeReader()
  }

  /** Whoever awaits the next step gets the error, after the steps that came before it. */
  fail(error: unknown): void {
    this.#failure ??= { error }
    this.close()
  }

  /** Resolves when fewer wait to be read than may; at once when nobody reads. */
  waitForReader(): Promise<void> | undefined {
    return this.#isFull() ? new Promise((resolve) => this.#onRoom.push(resolve)) : undefined
  }

  /** All of them in the order of the tape, with as many texts as may be kept. */
  all(): readonly ReplayStep[] {
    let characters = 0
    return Array.from(this.rows.inOrder(), (row) => {
      const step = this.#stepAt(row)
      const isKept = step.index < this.#keepTexts && characters < MOST_CHARACTERS
      characters += lengthOf(step)
      return isKept || this.#keepTexts === Infinity || step.findings.length > 0 ? step : withoutTexts(step)
    })
  }

  /** The same without making them. */
  view(): StepView {
    const rowOf = new Uint32Array(this.#plan?.size ?? 0)
    for (let row = 0; row < this.rows.size; row++) rowOf[this.rows.at(row).index] = row + 1
    const outcomeAt = (index: number): StepOutcome | undefined => {
      const row = rowOf[index] ?? 0
      return row === 0 ? undefined : this.rows.at(row - 1)
    }
    return {
      outcomes: () => outcomesIn(rowOf, outcomeAt),
      steps: () => this.#stepsIn(rowOf),
      at: (index) => (outcomeAt(index) === undefined ? undefined : this.#stepAt((rowOf[index] ?? 0) - 1)),
      notableAt: (index) => {
        const outcome = outcomeAt(index)
        return outcome === undefined || isUnchanged(outcome) ? undefined : outcome
      },
    }
  }

  *#stepsIn(rows: Uint32Array): Generator<ReplayStep> {
    for (const row of rows) if (row > 0) yield this.#stepAt(row - 1)
  }

  /** Of the messages that stand in some frames, which were answered as they should be. */
  passedAt(frames: ReadonlySet<number>): ReadonlyMap<number, boolean> {
    const good = new Map<number, boolean>()
    for (let row = 0; row < this.rows.size; row++) {
      const outcome = this.rows.at(row)
      const frame = this.#plan?.frameOf(outcome.index) ?? 0
      if (frames.has(frame)) good.set(frame, hasPassed(outcome))
    }
    return good
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ReplayStep> {
    this.#isRead = true
    try {
      for (;;) {
        while (this.#taken < this.rows.size) yield this.#next()
        if (this.#failure !== undefined) throw this.#failure.error
        if (this.#isClosed) return
        await new Promise<void>((resolve) => (this.#onStep = resolve))
      }
    } finally {
      this.#isRead = false
      this.#makeRoom()
    }
  }

  #next(): ReplayStep {
    const row = this.#taken++
    const step = this.#stepAt(row)
    this.#dropTexts(row, step)
    this.#makeRoom()
    return step
  }

  /** Whoever reads sees the texts; what is kept for the report must not grow with the tape. */
  #dropTexts(row: number, outcome: StepOutcome): void {
    if (isUnchanged(outcome) || this.#keepTexts === Infinity) return
    this.#characters += lengthOf(outcome)
    if (row >= this.#keepTexts || this.#characters > MOST_CHARACTERS) this.rows.shorten(row)
  }

  #stepAt(row: number): ReplayStep {
    const outcome = this.rows.at(row)
    if (!isUnchanged(outcome)) return outcome
    if (this.#plan === undefined) throw new Error('steps of no plan')
    return expandStep(outcome, this.#plan.at(outcome.index))
  }

  #wakeReader(): void {
    const told = this.#onStep
    this.#onStep = undefined
    told?.()
  }

  #isFull(): boolean {
    return this.#isRead && this.rows.size - this.#taken >= this.#most
  }

  #makeRoom(): void {
    if (!this.#isFull()) for (const go of this.#onRoom.splice(0)) go()
  }
}

function* outcomesIn(
  rows: Uint32Array,
  outcomeAt: (index: number) => StepOutcome | undefined,
): Generator<StepOutcome> {
  for (let index = 0; index < rows.length; index++) {
    const outcome = outcomeAt(index)
    if (outcome !== undefined) yield outcome
  }
}

function hasPassed(outcome: StepOutcome): boolean {
  return isUnchanged(outcome) || (outcome.state === 'done' && !hasFailed(outcome))
}

function lengthOf({ sent = '', answer = '', recordedAnswer = '' }: ReplayStep): number {
  return sent.length + answer.length + recordedAnswer.length
}

/** What became of the messages of a run, in the order in which it was known: of what is as recorded only a few numbers. */
class CompactStepRows {
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

function withoutTexts(step: ReplayStep): ReplayStep {
  return { ...step, sent: undefined, answer: undefined, recordedAnswer: undefined }
}
