import type { ReplayReport } from '../replay/report.ts'
import type { StepResult } from '../replay/step-result.ts'
import { member } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'

/** What each message of the client brought, and all that was said, in the field names of the session replays that security testers know. */
export function replayResults({ steps }: Pick<ReplayReport, 'steps'>): string {
  const results = steps.filter(({ sent }) => sent !== undefined).map(resultOf)
  const messages = steps
    .flatMap(messagesOf)
    .toSorted((a, b) => a.at - b.at)
    .map(({ at: _, proxy_id, ...fields }, sequence) => ({ proxy_id, sequence, ...fields }))
  return `${JSON.stringify({ results, messages }, null, 2)}\n`
}

interface SaidMessage {
  readonly at: number
  readonly proxy_id: string
  readonly direction: 'client_to_server' | 'server_to_client'
  readonly jsonrpc_id: unknown
  readonly method: string | null
  /** Of an answer, the message that it answers. */
  readonly correlated_id: string | null
  readonly payload: unknown
}

/** What was sent and what came back, each under a name that says which frame of the tape it stands for. */
function messagesOf({
  frame,
  method,
  sent,
  answer,
  sentAt = 0,
  duration = 0,
}: StepResult): readonly SaidMessage[] {
  if (sent === undefined) return []
  const [payload, said] = [valueOf(sent), answer === undefined ? undefined : valueOf(answer)]
  const id = `frame-${frame}`
  const request = {
    at: sentAt,
    proxy_id: id,
    direction: 'client_to_server',
    ...named(payload, method),
    correlated_id: null,
    payload,
  } as const
  const response = {
    at: sentAt + duration,
    proxy_id: `${id}-answer`,
    direction: 'server_to_client',
    ...named(said, null),
    correlated_id: id,
    payload: said,
  } as const
  return said === undefined ? [request] : [request, response]
}

function named(payload: unknown, method: string | null): { jsonrpc_id: unknown; method: string | null } {
  return { jsonrpc_id: member(payload, 'id') ?? null, method }
}

function valueOf(text: string): unknown {
  return parseJson(text) ?? text
}

function resultOf({ frame, method, recordedId, sent, answer, why, duration }: StepResult): object {
  const message = sent === undefined ? undefined : valueOf(sent)
  return {
    original_request: { id: frame, method, jsonrpc_id: recordedId ?? null },
    sent_message: message,
    response: answer === undefined ? null : valueOf(answer),
    error: why ?? null,
    duration_ms: duration ?? null,
  }
}
