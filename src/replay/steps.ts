import { Channel } from './channel.ts'
import type { StepResult } from './step-result.ts'

/** The results of a run: given out once as they come, and kept for the report. */
export class Steps extends Channel<StepResult> {
  readonly all: StepResult[] = []

  override push(step: StepResult): void {
    this.all.push(step)
    super.push(step)
  }
}
