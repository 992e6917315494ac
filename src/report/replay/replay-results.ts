import { stepsOf } from '../../replay/kept-steps.ts'
import type { ReplayReport } from '../../replay/report.ts'
import type { ReplayStep } from '../../replay/steps/step.ts'
import { streamJson, StreamedList } from '../long-json.ts'
import { orderedMessages } from '../said-messages.ts'
import { parseOrKeepText } from '../spared.ts'

/** What each message of the client brought, piece by piece, in the field names of the session replays that security testers know. */
export function replayResults(report: Pick<ReplayReport, 'steps'>): Iterable<string> {
  const kept = stepsOf(report)
  return streamJson({
    results: new StreamedList(() => stepResults(kept.steps())),
    messages: new StreamedList(() => orderedMessages(kept)),
  })
}

function* stepResults(steps: Iterable<ReplayStep>): Generator<object> {
  for (const step of steps) if (step.sent !== undefined) yield stepResultJson(step)
}

function stepResultJson({ frame, method, recordedId, sent, answer, why, duration }: ReplayStep): object {
  return {
    original_request: { id: frame, method, jsonrpc_id: recordedId ?? null },
    sent_message: parseOrKeepText(sent),
    response: parseOrKeepText(answer),
    error: why ?? null,
    duration_ms: duration ?? null,
  }
}
