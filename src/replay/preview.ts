import type { Notification, Request } from '../wire/message.ts'
import { partBindings } from './tape-bindings.ts'
import { onePart } from './one-server.ts'
import type { ReplayedTape } from './replayed-tape.ts'
import type { ReplayOptions } from './options.ts'
import { dueTimes, type Timing } from './pace.ts'
import type { Fate, Planned } from './plan.ts'
import { carrierFor, planFor } from './prepare.ts'
import { toolsIn } from './safety.ts'
import { scheduled, type Schedule } from './schedule.ts'

/** A message of the recorded client with its turn in a run. */
export interface ScheduledMessage {
  /** Its place among the client's messages on the tape, from 0. */
  readonly index: number
  /** Its frame on the tape. */
  readonly frame: number
  readonly message: Request | Notification
  readonly tool: string | undefined
  readonly fate: Fate
  /** Milliseconds from the start of the run at which it is due, if every answer comes at once. */
  readonly due: number
  /** Milliseconds from the start of the tape at which it was sent. */
  readonly at: number
  /** What its answer is known by: the connection and the recorded id. */
  readonly correlationId: string | undefined
  /** Messages, by index, that must be over before it goes out. */
  readonly dependencies: readonly number[]
}

/** What a run would send, in its order, and what not and why. Only the tape is looked at: what it says of its tools decides what is held back. */
export async function preview(
  tape: ReplayedTape,
  options: Omit<ReplayOptions, 'target'>,
): Promise<readonly ScheduledMessage[]> {
  return [...(await previewed(tape, options))]
}

/** The same one by one: of a tape of any size only the message that is looked at is in memory. */
export async function previewed(
  tape: ReplayedTape,
  options: Omit<ReplayOptions, 'target'>,
): Promise<Iterable<ScheduledMessage>> {
  const part = await onePart(tape, options.server)
  const plan = planFor(part.turns, options, toolsIn(part))
  const correlate = options.correlate ?? (await partBindings(part, tape))
  const carrier = carrierFor(plan, correlate)
  const order = scheduled(plan, options.ordering ?? { kind: 'correlated' }, (index) =>
    carrier.producersOf(index),
  )
  return outlines(order, options.timing ?? { kind: 'fast' })
}

function* outlines(order: Schedule, timing: Timing): Generator<ScheduledMessage> {
  const dueAt = dueTimes(timing)
  let now = 0
  for (let turn = 0; turn < order.size; turn++) {
    const planned = order.at(turn)
    now = Math.max(now, dueAt(planned, now))
    yield { ...outlined(planned), due: now, dependencies: order.dependenciesOf(planned) }
  }
}

function outlined({
  index,
  turn,
  message,
  tool,
  fate,
  at,
  link,
}: Planned): Omit<ScheduledMessage, 'due' | 'dependencies'> {
  const correlationId = message.kind === 'request' ? `${link}:${JSON.stringify(message.id)}` : undefined
  return { index, frame: turn.trigger?.n ?? 0, message, tool, fate, at, correlationId }
}
