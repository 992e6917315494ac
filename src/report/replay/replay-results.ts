import { member } from '../../protocol/message.ts'
import type { ReplayReport } from '../../replay/report.ts'
import type { ReplayStep } from '../../replay/steps/step.ts'
import type { StepList } from '../../replay/steps/step-list.ts'
import { streamJson, StreamedList, parseOrKeepText } from '../json-text.ts'
import { indexesUpTo, NumberTable } from '../../store/columns.ts'

/** Each request with its response, in chunks, with the field names of the session replays that security testers know. */
export function replayResults({ steps }: Pick<ReplayReport, 'steps'>): Iterable<string> {
  return streamJson({
    results: new StreamedList(() => stepResults(steps)),
    messages: new StreamedList(() => orderedMessages(steps)),
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

/** All messages of a run in order, with the field names of the session files that security testers know. */
function* orderedMessages(steps: StepList): Generator<object> {
  let sequence = 0
  for (const { index, isAnswer } of inTimeOrder(steps)) {
    const step = steps.at(index)
    if (step !== undefined)
      yield { ...messageId(step, isAnswer), sequence: sequence++, ...messageRecord(step, isAnswer) }
  }
}

interface OrderedMessage {
  readonly index: number
  readonly isAnswer: boolean
}

/** The messages in the order of the run. Each is two numbers, because there may be millions. */
function* inTimeOrder(steps: StepList): Generator<OrderedMessage> {
  const messages = new NumberTable({ at: 'float64', message: 'uint32' })
  for (const { index, state, sentAt, duration } of steps.outlines()) {
    if (sentAt === undefined) continue
    messages.add({ at: sentAt, message: index * 2 })
    if (state !== 'done' || duration === undefined) continue
    messages.add({ at: sentAt + duration, message: index * 2 + 1 })
  }
  for (const row of messages.orderBy('at') ?? indexesUpTo(messages.size)) {
    const number = messages.columns.message.at(row)
    yield { index: Math.floor(number / 2), isAnswer: number % 2 === 1 }
  }
}

/** The id is made of the frame on the tape. */
function messageId({ frame }: ReplayStep, isAnswer: boolean): { readonly proxy_id: string } {
  return { proxy_id: isAnswer ? `frame-${frame}-answer` : `frame-${frame}` }
}

function messageRecord({ frame, method, sent, answer }: ReplayStep, isAnswer: boolean): object {
  const payload = parseOrKeepText(isAnswer ? answer : sent)
  return {
    direction: isAnswer ? 'server_to_client' : 'client_to_server',
    jsonrpc_id: member(payload, 'id') ?? null,
    method: isAnswer ? null : method,
    correlated_id: isAnswer ? `frame-${frame}` : null,
    payload,
  }
}
