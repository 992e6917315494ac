import { member } from '../../protocol/message.ts'
import { stepsOf, type ReplayReport, type StepView } from '../../replay/report.ts'
import { type ReplayStep, isUnchanged, type StepOutcome } from '../../replay/steps/step.ts'
import { streamJson, StreamedList, parseOrKeepText } from '../json-text.ts'
import { indexesUpTo, uint32Column, float64Column } from '../../store/columns.ts'

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

/** All that was sent and answered in a run, in its order, in the field names of session files that security testers know. */
function* orderedMessages(kept: StepView): Generator<object> {
  const said = inTimeOrder(kept.outcomes())
  let sequence = 0
  for (const { index, isAnswer } of said) {
    const step = kept.at(index)
    if (step !== undefined)
      yield { ...messageId(step, isAnswer), sequence: sequence++, ...messageRecord(step, isAnswer) }
  }
}

interface OrderedMessage {
  readonly index: number
  readonly isAnswer: boolean
}

/** In the order of the run; two numbers for each message, however many there are. */
function* inTimeOrder(outcomes: Iterable<StepOutcome>): Generator<OrderedMessage> {
  const [at, message] = [float64Column(), uint32Column()]
  for (const outcome of outcomes) {
    const { index, sentAt = 0, duration = 0 } = outcome
    if (!isUnchanged(outcome) && outcome.sent === undefined) continue
    at.push(sentAt)
    message.push(index * 2)
    if (!isUnchanged(outcome) && outcome.answer === undefined) continue
    at.push(sentAt + duration)
    message.push(index * 2 + 1)
  }
  for (const place of indexesUpTo(at.length).toSorted((a, b) => at.at(a) - at.at(b) || a - b)) {
    const number = message.at(place)
    yield { index: Math.floor(number / 2), isAnswer: number % 2 === 1 }
  }
}

/** The frame of the tape that it stands for. */
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
