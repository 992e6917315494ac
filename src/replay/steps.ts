import { Channel } from './channel.ts'
import type { StepResult } from './step-result.ts'

/** The results of a run: given out once as they come, and kept for the report. */
export class Steps extends Channel<StepResult> {
  readonly all: StepResult[] = []
  readonly #keepTexts: number

  /** After so many steps, the texts of those that are as recorded are not kept. */
  constructor(keepTexts: number) {
    super()
    this.#keepTexts = keepTexts
  }

  override push(step: StepResult): void {
    const isKept = this.all.length < this.#keepTexts || step.findings.length > 0
    this.all.push(isKept ? step : { ...step, sent: undefined, answer: undefined, recordedAnswer: undefined })
    super.push(step)
  }
}
