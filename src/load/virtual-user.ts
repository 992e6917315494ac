import type { FoundBindings } from '../bindings/binding.ts'
import { member, parseJson } from '../json/parse.ts'
import type { OpenLink } from '../link/client-link.ts'
import type { ReplayController } from '../replay/control/controller.ts'
import { type PlannedMessage, planMessages, type ReplayPlan } from '../replay/plan/plan.ts'
import type { ServerPart } from '../replay/plan/server-part.ts'
import type { ToolDescriptions, WritePermission } from '../replay/plan/tool-safety.ts'
import { Batches } from '../replay/send/batches.ts'
import { EarlyRequests } from '../replay/send/early-requests.ts'
import {
  Cancellations,
  type SendContext,
  sendMessage,
  type SentRequest,
} from '../replay/send/send-message.ts'
import { InputRounds } from '../replay/session/input-rounds.ts'
import { Peer } from '../replay/session/peer.ts'
import { dropLeftOutProducers } from '../replay/values/left-out-producers.ts'
import { createCarriedValues } from '../replay/values/carried-values.ts'
import type { CallMeasurement, CallOutcome } from './measurements.ts'
import type { PreciseTimer } from './precise-timer.ts'

/** A recorded session that virtual users repeat. */
export interface Scenario {
  readonly name: string
  readonly part: ServerPart
  readonly plan: ReplayPlan
  readonly bindings: FoundBindings | false
  /** The messages that are sent, in recorded order. */
  readonly messages: readonly ScenarioMessage[]
  /** Messages that are never sent, by the reason. */
  readonly heldBack: ReadonlyMap<string, number>
}

interface ScenarioMessage {
  readonly planned: PlannedMessage
  /** The tool, or the method, in tables. */
  readonly label: string
  /** Milliseconds between what the client waited for and this message, as recorded. */
  readonly think: number
  /** Milliseconds from the request to the response, as recorded; 0 for notifications and requests without a response. */
  readonly recorded: number
}

/** Plans what a virtual user sends. */
export function createScenario(
  name: string,
  part: ServerPart,
  found: FoundBindings | false,
  { permission, tools }: { permission: WritePermission; tools: ToolDescriptions },
): Scenario {
  const plan = planMessages(part.turns, permission, tools)
  const { bindings } = dropLeftOutProducers(found, plan)
  const all = [...plan]
  const heldBack = new Map<string, number>()
  for (const { fate, tool } of all)
    if (fate.kind === 'hold') heldBack.set(tool ?? '', (heldBack.get(tool ?? '') ?? 0) + 1)
  const ends = all.map(({ turn, at }) => turn.response?.t ?? at)
  const messages = all.flatMap((planned, place) => {
    if (planned.fate.kind !== 'send') return []
    const previous = all[place - 1]
    const ready = Math.max(previous?.at ?? planned.at, ...planned.after.map((index) => ends[index] ?? 0))
    const { message, tool, at } = planned
    const recorded = message.kind === 'request' ? (ends[place] ?? at) - at : 0
    return [{ planned, label: tool ?? message.method, think: Math.max(0, at - ready), recorded }]
  })
  return { name, part, plan, bindings, messages, heldBack }
}

/** What all virtual users of a run share. */
export interface UserContext {
  readonly open: OpenLink
  readonly timer: PreciseTimer
  readonly timeout: number
  readonly startTimeout: number
  /** Think times are multiplied by this; 0 leaves them out. */
  readonly thinkFactor: number
  /** The expected response time of a message, in milliseconds. */
  readonly expected: (message: Pick<ScenarioMessage, 'label' | 'recorded'>) => number
  readonly onCall: (label: string, measurement: CallMeasurement) => void
  readonly controller: ReplayController
}

export const HANDSHAKE_LABEL = '(connect)'

/**
 * Plays one recorded session as a virtual user with its own connection and values. A request goes out when everything that it waited
 * for on the tape has happened, plus the think time.
 *
 * The response time counts from the moment at which the request would have gone out if all earlier calls of the session had taken
 * their expected time. After a stall of the server, this includes the delay that the user has already suffered.
 *
 * Returns `done`, or `cut` if the run was stopped. Throws if no session can be opened.
 */
export async function playSession(
  scenario: Scenario,
  intendedStart: number,
  context: UserContext,
): Promise<'done' | 'cut'> {
  const { timer, controller, thinkFactor } = context
  const peer = createPeer(scenario, context)
  const send = createSendContext(scenario, peer, context)
  const giveUp = (): void => void peer.close() // ends the requests that are open
  controller.stopped.addEventListener('abort', giveUp)
  // For each message: when it was due, when a user on schedule would have sent it, and when its response came or was expected.
  const { size } = scenario.plan
  const ended = new Float64Array(size)
  const intendedEnd = new Float64Array(size)
  const open = new Map<number, Promise<void>>()
  const first = scenario.messages[0]
  let sent = timer.now()
  let intended = Math.min(intendedStart, sent)
  try {
    if (first === undefined) return 'done'
    await peer.sessionOf(first.planned.link)
    const connected = timer.now()
    const [service, response] = [connected - sent, connected - intended]
    context.onCall(HANDSHAKE_LABEL, {
      outcome: 'ok',
      service,
      response,
      lag: Math.max(0, sent - intendedStart),
    })
    intended += Math.min(service, context.expected({ label: HANDSHAKE_LABEL, recorded: service }))
    sent = connected
    for (const message of scenario.messages) {
      const { planned, think } = message
      for (const index of planned.after) await open.get(index)
      const wait = think * thinkFactor
      const due = Math.max(sent, ...planned.after.map((index) => ended[index] ?? 0)) + wait
      // A session that is ahead of its schedule has no slack that could hide a later delay.
      intended = Math.min(
        due,
        Math.max(intended, ...planned.after.map((index) => intendedEnd[index] ?? 0)) + wait,
      )
      if (due > timer.now()) await timer.until(due)
      if (controller.status === 'stopped') return 'cut'
      sent = timer.now()
      const { index } = planned
      const times = { due, intended, sent }
      const call = async (): Promise<void> => {
        const result = await sendMessage(planned, send)
        ended[index] = timer.now()
        intendedEnd[index] = times.intended + Math.min(context.expected(message), ended[index] - times.sent)
        open.delete(index)
        if (result.kind === 'requested' && result.end.kind !== 'given-up' && result.end.kind !== 'open')
          context.onCall(message.label, measure(result, times))
        else if (result.kind === 'unsent' && result.state === 'unbound')
          context.onCall(message.label, NOT_SENT)
      }
      open.set(index, call())
    }
    await Promise.all(open.values())
    return controller.status === 'stopped' ? 'cut' : 'done'
  } finally {
    controller.stopped.removeEventListener('abort', giveUp)
    await peer.close()
  }
}

const NOT_SENT: CallMeasurement = { outcome: 'unbound', service: 0, response: 0, lag: 0 }

function measure(
  { end, endedAt = 0, sentAt, asides, firstByteAt }: SentRequest,
  { due, intended }: { due: number; intended: number },
): CallMeasurement {
  const progress = asides.find(({ message }) => message.method === 'notifications/progress')
  return {
    outcome: outcomeOf(end),
    service: endedAt - sentAt,
    response: endedAt - intended,
    lag: Math.max(0, sentAt - due),
    firstByte: firstByteAt === undefined ? undefined : firstByteAt - sentAt,
    firstProgress: progress === undefined ? undefined : progress.at - sentAt,
  }
}

function outcomeOf(end: SentRequest['end']): CallOutcome {
  if (end.kind !== 'answered') return end.kind === 'timeout' ? 'timeout' : 'lost'
  if (!end.text.includes('"error"') && !end.text.includes('"isError"')) return 'ok'
  const response = parseJson(end.text)
  const error = member(response, 'error')
  if (error !== undefined) return `error ${Number(member(error, 'code'))}`
  return member(member(response, 'result'), 'isError') === true ? 'isError' : 'ok'
}

function createPeer(
  { part }: Scenario,
  { open, timeout, startTimeout, timer, controller }: UserContext,
): Peer {
  return new Peer(part, {
    open,
    handshake: 'own',
    timeout,
    startTimeout,
    onAsk: 'decline',
    onOpening: () => {},
    controller,
    timesFirstByte: true,
    now: () => timer.now(),
  })
}

function createSendContext(
  { part, plan, bindings }: Scenario,
  peer: Peer,
  { timeout, timer, controller }: UserContext,
): SendContext {
  const values = createCarriedValues(plan, bindings)
  peer.use(values)
  return {
    peer,
    values,
    rounds: plan.hasRounds
      ? new InputRounds(part.turns, { ask: (request) => peer.answer(request), onNote: () => {} })
      : undefined,
    cancellations: new Cancellations(plan.cancelled),
    early: new EarlyRequests({ timeout, keepsIds: false }),
    batches: new Batches({ plan, revisions: peer.revisions, maxSize: 0 }),
    rules: [],
    faults: undefined,
    timeShift: undefined,
    timeout,
    keepsIds: false,
    maxRetries: 0,
    retryDelay: 0,
    retriesLost: false,
    controller,
    now: () => timer.now(),
  }
}
