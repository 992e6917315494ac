import type { Notification, Request } from '../protocol/message.ts'
import { bindingsOfPart } from './values/tape-bindings.ts'
import { selectServerPart, type ReplayedTape } from './plan/server-part.ts'
import type { ReplayOptions } from './options.ts'
import { dueTimes, type Timing } from './plan/timing.ts'
import { type PlannedMessage, planMessages } from './plan/plan.ts'
import { createCarriedValues } from './values/carried-values.ts'
import { toolsOnTape } from './plan/tool-safety.ts'
import { scheduleMessages, type Schedule } from './plan/schedule.ts'
import type { SendDecision } from './plan/plan-columns.ts'

/** A message of the recorded client in the order of a run. */
export interface ScheduledMessage {
  /** Position among the client's messages on the tape, from 0. */
  readonly index: number
  /** Frame on the tape. */
  readonly frame: number
  /** The number of the exchange that the request began; `undefined` for a notification. */
  readonly exchange: number | undefined
  readonly message: Request | Notification
  readonly tool: string | undefined
  readonly fate: SendDecision
  /** Milliseconds from the start of the run at which the message is due if every answer comes at once. */
  readonly due: number
  /** Milliseconds from the start of the tape at which it was sent. */
  readonly at: number
  /** The connection and the recorded id, by which the answer is matched. */
  readonly correlationId: string | undefined
  /** Indexes of messages that must be done before this one is sent. */
  readonly dependencies: readonly number[]
}

/** Lists what a run would send, in order, and why a message would not be sent. The live server is not started: the tools on the tape decide which calls are held back. */
export async function preview(
  tape: ReplayedTape,
  options: Omit<ReplayOptions, 'target'>,
): Promise<readonly ScheduledMessage[]> {
  return [...(await previewMessages(tape, options))]
}

/** Like `preview`, but reads one message at a time, so that the size of the tape does not matter. */
export async function previewMessages(
  tape: ReplayedTape,
  options: Omit<ReplayOptions, 'target'>,
): Promise<Iterable<ScheduledMessage>> {
  const part = await selectServerPart(tape, options.server)
  const plan = planMessages(part.turns, options, toolsOnTape(part))
  const correlate = options.correlate ?? (await bindingsOfPart(part, tape))
  const values = createCarriedValues(plan, correlate)
  const order = scheduleMessages(plan, options.ordering, values)
  return scheduledMessages(order, options.timing ?? { kind: 'fast' })
}

function* scheduledMessages(order: Schedule, timing: Timing): Generator<ScheduledMessage> {
  const dueAt = dueTimes(timing)
  let now = 0
  for (let turn = 0; turn < order.size; turn++) {
    const planned = order.at(turn)
    now = Math.max(now, dueAt(planned, now))
    yield { ...describeMessage(planned), due: now, dependencies: order.dependenciesOf(planned) }
  }
}

function describeMessage({
  index,
  turn,
  message,
  tool,
  fate,
  at,
  link,
}: PlannedMessage): Omit<ScheduledMessage, 'due' | 'dependencies'> {
  const correlationId = message.kind === 'request' ? `${link}:${JSON.stringify(message.id)}` : undefined
  const { exchange } = turn
  return { index, frame: turn.trigger?.n ?? 0, exchange, message, tool, fate, at, correlationId }
}
