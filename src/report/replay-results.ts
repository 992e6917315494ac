import { keptSteps } from '../replay/kept-steps.ts'
import type { ReplayReport } from '../replay/report.ts'
import type { StepResult } from '../replay/step-result.ts'
import { longJson, LongList } from './long-json.ts'
import { saidMessages } from './said-messages.ts'
import { valueOf } from './spared.ts'

/** What each message of the client brought, piece by piece, in the field names of the session replays that security testers know. */
export function replayResults(report: Pick<ReplayReport, 'steps'>): Iterable<string> {
  const kept = keptSteps(report)
  return longJson({
    results: new LongList(() => resultsIn(kept.steps())),
    messages: new LongList(() => saidMessages(kept)),
  })
}

function* resultsIn(steps: Iterable<StepResult>): Generator<object> {
  for (const step of steps) if (step.sent !== undefined) yield resultOf(step)
}

function resultOf({ frame, method, recordedId, sent, answer, why, duration }: StepResult): object {
  return {
    original_request: { id: frame, method, jsonrpc_id: recordedId ?? null },
    sent_message: valueOf(sent),
    response: valueOf(answer),
    error: why ?? null,
    duration_ms: duration ?? null,
  }
}
