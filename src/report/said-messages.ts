import { isUnchanged, type StepOutcome } from '../replay/as-recorded.ts'
import type { StepView } from '../replay/kept-steps.ts'
import type { ReplayStep } from '../replay/steps/step.ts'
import { indexesUpTo, uint32Column, float64Column } from '../store/columns.ts'
import { member } from '../protocol/message.ts'
import { parseOrKeepText } from './spared.ts'

/** All that was sent and answered in a run, in its order, in the field names of session files that security testers know. */
export function* orderedMessages(kept: StepView): Generator<object> {
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
