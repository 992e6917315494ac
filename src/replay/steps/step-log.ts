import { isUnchanged, expandStep, type StepOutcome } from '../as-recorded.ts'
import { hasFailed } from '../failed.ts'
import type { StepView } from '../kept-steps.ts'
import type { ReplayPlan } from '../plan/plan.ts'
import type { ReplayStep } from './step.ts'
import { CompactStepRows, withoutTexts } from '../step-rows.ts'

export interface StepLogOptions {
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
