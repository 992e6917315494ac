import { indexesUpTo } from '../store/columns.ts'
import { ascendingOrder } from './ascending-order.ts'
import type { PlanColumns } from './plan-rows.ts'

/** For each message, the requests whose answers came since the message before it; two numbers for each, whatever the tape holds. */
export function answersBefore({
  frame,
  answer,
}: Pick<PlanColumns, 'frame' | 'answer'>): (index: number) => readonly number[] {
  const answered = answeredInOrder(answer)
  const from = new Uint32Array(frame.length + 1)
  let next = 0
  for (let index = 0; index < frame.length; index++) {
    from[index] = next
    while (next < answered.length && (answer[answered[next] ?? 0] ?? 0) < (frame[index] ?? 0)) next++
  }
  from[frame.length] = next
  return (index) => {
    const [start = 0, end = 0] = [from[index], from[index + 1]]
    return start === end ? NO_INDEXES : indexList(answered, start, end)
  }
}

const NO_INDEXES: readonly number[] = []

// Most often it is one.
function indexList(numbers: Uint32Array, start: number, end: number): readonly number[] {
  return end === start + 1 ? [numbers[start] ?? 0] : Array.from(numbers.subarray(start, end))
}

/** The requests that were answered, in the order of their answers. */
function answeredInOrder(answer: Float64Array): Uint32Array {
  const order = ascendingOrder(answer) ?? indexesUpTo(answer.length)
  let unanswered = 0
  while (answer[order[unanswered] ?? -1] === 0) unanswered++ // they stand first
  return order.subarray(unanswered)
}
