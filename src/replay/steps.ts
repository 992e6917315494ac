import { Channel } from './channel.ts'
import type { StepResult } from './step-result.ts'

/** The results of a run: given out once as they come, and kept for the report. */
export class Steps extends Channel<StepResult> {
  readonly all: StepResult[] = []
  readonly #most: number
  readonly #keepTexts: number
  #taken = 0
  #isRead = false
  #waiting: (() => void)[] = []

  /** `most` results may wait for whoever reads them. After `keepTexts` steps, the texts of those that are as recorded are not kept. */
  constructor({
    most = Infinity,
    keepTexts = Infinity,
  }: { most?: number | undefined; keepTexts?: number } = {}) {
    super()
    this.#most = most
    this.#keepTexts = keepTexts
  }

  override push(step: StepResult): void {
    const isKept = this.all.length < this.#keepTexts || step.findings.length > 0
    this.all.push(isKept ? step : { ...step, sent: undefined, answer: undefined, recordedAnswer: undefined })
    super.push(step)
  }

  /** Resolves when fewer wait to be read than may; at once when nobody reads. */
  room(): Promise<void> | undefined {
    return this.#isFull() ? new Promise((resolve) => this.#waiting.push(resolve)) : undefined
  }

  override async *[Symbol.asyncIterator](): AsyncGenerator<StepResult> {
    this.#isRead = true
    try {
      for await (const step of super[Symbol.asyncIterator]()) {
        this.#taken++
        this.#wake()
        yield step
      }
    } finally {
      this.#isRead = false
      this.#wake()
    }
  }

  #isFull(): boolean {
    return this.#isRead && this.all.length - this.#taken >= this.#most
  }

  #wake(): void {
    if (!this.#isFull()) for (const wake of this.#waiting.splice(0)) wake()
  }
}
