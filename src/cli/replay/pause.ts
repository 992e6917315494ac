import { setImmediate as turn } from 'node:timers/promises'
import type { ReplayController } from '../../replay/controller.ts'
import { hasFailed } from '../../replay/failed.ts'
import type { ReplayStep } from '../../replay/steps/step.ts'
import { askOneQuestion } from '../output/terminal.ts'

/** After a step that failed: asks at the terminal whether to go on, and stops where there is nobody to ask. */
export function pauseOnFailure(controller: ReplayController): (step: ReplayStep) => void {
  let isAsking = false
  return (step) => {
    if (isAsking || !hasFailed(step)) return
    isAsking = true
    void askToContinue(controller, step).finally(() => (isAsking = false))
  }
}

async function askToContinue(controller: ReplayController, { index, method }: ReplayStep): Promise<void> {
  await turn() // a run whose last step failed is over by then: there is nothing to go on with
  if (controller.status !== 'paused') return
  const failed = `step ${index} (${method}) is not as recorded`
  if (!process.stdin.isTTY) {
    process.stderr.write(
      `reelay: ${failed}, and there is no terminal to ask whether to go on: the run stops here\n`,
    )
    return controller.stop()
  }
  const answer = await askOneQuestion(`${failed}; go on? [Y/n] `, controller.stopped)
  if (answer === undefined || /^n/i.test(answer.trim())) controller.stop()
  else controller.resume()
}
