import type { ReplayReport } from '../replay/report.ts'
import type { StepResult } from '../replay/step-result.ts'
import { saidMessages } from './said-messages.ts'
import { valueOf } from './spared.ts'

/** What each message of the client brought, in the field names of the session replays that security testers know. */
export function replayResults({ steps }: Pick<ReplayReport, 'steps'>): string {
  const results = steps.filter(({ sent }) => sent !== undefined).map(resultOf)
  return `${JSON.stringify({ results, messages: saidMessages(steps) }, null, 2)}\n`
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
