import { isAsRecorded, type Outcome } from '../replay/as-recorded.ts'
import type { KeptSteps } from '../replay/kept-steps.ts'
import type { StepResult } from '../replay/step-result.ts'
import { placesOf, wholeColumn, wideColumn } from '../store/columns.ts'
import { member } from '../wire/message.ts'
import { valueOf } from './spared.ts'

/** All that was sent and answered in a run, in its order, in the field names of session files that security testers know. */
export function* saidMessages(kept: KeptSteps): Generator<object> {
  const said = whenSaid(kept.outcomes())
  let sequence = 0
  for (const { index, isAnswer } of said) {
    const step = kept.at(index)
    if (step !== undefined)
      yield { ...nameOf(step, isAnswer), sequence: sequence++, ...messageOf(step, isAnswer) }
  }
}

interface Said {
  readonly index: number
  readonly isAnswer: boolean
}

/** In the order of the run; two numbers for each message, however many there are. */
function* whenSaid(outcomes: Iterable<Outcome>): Generator<Said> {
  const [at, message] = [wideColumn(), wholeColumn()]
  for (const outcome of outcomes) {
    const { index, sentAt = 0, duration = 0 } = outcome
    if (!isAsRecorded(outcome) && outcome.sent === undefined) continue
    at.push(sentAt)
    message.push(index * 2)
    if (!isAsRecorded(outcome) && outcome.answer === undefined) continue
    at.push(sentAt + duration)
    message.push(index * 2 + 1)
  }
  for (const place of placesOf(at.length).toSorted((a, b) => at.at(a) - at.at(b) || a - b)) {
    const number = message.at(place)
    yield { index: Math.floor(number / 2), isAnswer: number % 2 === 1 }
  }
}

/** The frame of the tape that it stands for. */
function nameOf({ frame }: StepResult, isAnswer: boolean): { readonly proxy_id: string } {
  return { proxy_id: isAnswer ? `frame-${frame}-answer` : `frame-${frame}` }
}

function messageOf({ frame, method, sent, answer }: StepResult, isAnswer: boolean): object {
  const payload = valueOf(isAnswer ? answer : sent)
  return {
    direction: isAnswer ? 'server_to_client' : 'client_to_server',
    jsonrpc_id: member(payload, 'id') ?? null,
    method: isAnswer ? null : method,
    correlated_id: isAnswer ? `frame-${frame}` : null,
    payload,
  }
}
