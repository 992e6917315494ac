import type { ReplayReport } from '../replay/report.ts'
import type { StepResult } from '../replay/step-result.ts'
import { member } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

/** What each message of the client brought, in the field names of the session replays that security testers know. */
export function replayResults({ steps }: Pick<ReplayReport, 'steps'>): string {
  const results = steps.filter(({ sent }) => sent !== undefined).map(resultOf)
  return `${JSON.stringify({ results }, null, 2)}\n`
}

function resultOf({ frame, method, sent, answer, why, duration }: StepResult): object {
  const message = sent === undefined ? undefined : parseJson(sent)
  return {
    original_request: { id: frame, method, jsonrpc_id: member(message, 'id') ?? null },
    sent_message: message,
    response: answer === undefined ? null : (parseJson(answer) ?? answer),
    error: why ?? null,
    duration_ms: duration ?? null,
  }
}
