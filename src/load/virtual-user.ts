import type { FoundBindings } from '../bindings/binding.ts'
import { member, parseJson } from '../json/parse.ts'
import type { OpenLink } from '../link/client-link.ts'
import type { ReplayController } from '../replay/control/controller.ts'
import { answerTimeout, DEFAULT_TIMEOUT } from '../replay/options.ts'
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
import { findId, replaceId } from '../protocol/find-id.ts'
import { classifyMessage, META_KEYS } from '../protocol/message.ts'
import type { LiveCall } from '../replay/session/live-session.ts'
import type { CallMeasurement, CallOutcome } from './measurements.ts'
import type { PreciseTimer } from './precise-timer.ts'

/** A recorded session that virtual users repeat. */
export interface LoadScenario {
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
  /** The text before and after its id, if nothing but the id changes and only the response is of interest. */
  readonly plain: PlainRequest | undefined
}

interface PlainRequest {
  readonly method: string
  readonly params: unknown
  readonly before: string
  readonly after: string
}

/** Plans what a virtual user sends. */
export function createLoadScenario(
  name: string,
  part: ServerPart,
  found: FoundBindings | false,
  { permission, tools }: { permission: WritePermission; tools: ToolDescriptions },
): LoadScenario {
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
    const label = tool ?? message.method
    return [{ planned, label, think: Math.max(0, at - ready), recorded, plain: plainRequest(planned, plan) }]
  })
  return { name, part, plan, bindings, messages, heldBack }
}

/** Returns `undefined` for a request that needs more than its answer, such as one that the tape cancels. */
function plainRequest({ message, turn, text }: PlannedMessage, plan: ReplayPlan): PlainRequest | undefined {
  if (message.kind !== 'request' || plan.hasRounds || plan.cancelled.size > 0) return undefined
  if (turn.response === undefined || turn.steps.length > 1 || text.includes(META_KEYS.progressToken))
    return undefined
  const id = findId(text)
  if (id === undefined) return undefined
  const { method, params } = message
  return { method, params, before: text.slice(0, id.start), after: text.slice(id.end) }
}

/** What all virtual users of a run share. */
export interface UserContext {
  readonly open: OpenLink
  readonly timer: PreciseTimer
  /** Milliseconds that an answer may take; `undefined` for the default, which depends on how long it took on the tape. */
  readonly timeout: number | undefined
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
  scenario: LoadScenario,
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
      const due = latestOf(planned.after, ended, sent) + wait
      // A session that is ahead of its schedule has no slack that could hide a later delay.
      intended = Math.min(due, latestOf(planned.after, intendedEnd, intended) + wait)
      if (due > timer.now()) await timer.until(due)
      if (controller.status === 'stopped') return 'cut'
      sent = timer.now()
      const { index } = planned
      const times = { due, intended, sent }
      const onEnd = (call: CallMeasurement | undefined, at: number): void => {
        ended[index] = at
        intendedEnd[index] = times.intended + Math.min(context.expected(message), at - times.sent)
        open.delete(index)
        if (call !== undefined) context.onCall(message.label, call)
      }
      open.set(
        index,
        callDirectly(message, { peer, send, times, onEnd }) ??
          callAsPlanned(message, { peer, send, times, onEnd }),
      )
    }
    await Promise.all(open.values())
    return controller.status === 'stopped' ? 'cut' : 'done'
  } finally {
    controller.stopped.removeEventListener('abort', giveUp)
    await peer.close()
  }
}

function latestOf(indexes: readonly number[], times: Float64Array, atLeast: number): number {
  let latest = atLeast
  for (const index of indexes) latest = Math.max(latest, times[index] ?? 0)
  return latest
}

/** When a request was due, and when a user on schedule would have sent it. */
interface CallTimes {
  readonly due: number
  readonly intended: number
}

interface UserCall {
  readonly peer: Peer
  readonly send: SendContext
  readonly times: CallTimes
  /** Called with the measurement, or `undefined` if nothing was measured, and with the time of the end. */
  readonly onEnd: (call: CallMeasurement | undefined, at: number) => void
}

/** Sends a message like a replay. */
async function callAsPlanned({ planned }: ScenarioMessage, { send, times, onEnd }: UserCall): Promise<void> {
  const result = await sendMessage(planned, send)
  const isUnbound = result.kind === 'unsent' && result.state === 'unbound'
  onEnd(result.kind === 'requested' ? measure(result, times) : isUnbound ? NOT_SENT : undefined, send.now())
}

/**
 * Sends a request in the short way of the session, which is several times as fast. Returns `undefined` if the message needs more,
 * or the connection cannot do it.
 */
function callDirectly(
  { planned, plain }: ScenarioMessage,
  { peer, send, times, onEnd }: UserCall,
): Promise<void> | undefined {
  const session = plain && peer.openSessionOf(planned.link)
  if (session === undefined || plain === undefined) return undefined
  const { text: filled, unbound } = send.values.fill(planned)
  if (unbound.length > 0) return undefined
  const id = session.nextId()
  const isUnchanged = filled === planned.text
  const text = isUnchanged ? plain.before + String(id) + plain.after : replaceId(filled, String(id))
  const parsed = isUnchanged ? plain : requestIn(filled)
  if (parsed === undefined) return undefined
  const message = { kind: 'request', id, method: parsed.method, params: parsed.params } as const
  let isSent = false
  const promise = new Promise<void>((resolve) => {
    isSent = session.exchange(
      { text, id, token: undefined, timeout: answerTimeout(send.timeout, planned.turn), message },
      {
        onAnswer: ({ response, text: answer, sentAt, firstByteAt, endedAt }) => {
          send.values.learn(planned, [answer])
          onEnd(
            {
              outcome: outcomeOfResponse(response),
              service: endedAt - sentAt,
              response: endedAt - times.intended,
              lag: Math.max(0, sentAt - times.due),
              firstByte: firstByteAt - sentAt,
            },
            endedAt,
          )
          resolve()
        },
        onCall: (call) => void endOfCall(call, planned, { send, times, onEnd }).then(resolve),
      },
    )
  })
  return isSent ? promise : undefined
}

/** Waits for a request whose response is not one JSON body. */
async function endOfCall(
  call: LiveCall,
  planned: PlannedMessage,
  { send, times, onEnd }: Omit<UserCall, 'peer'>,
): Promise<void> {
  const end = await call.ended
  const { endedAt = send.now(), sentAt, asides, firstByteAt } = call
  if (end.kind === 'answered') send.values.learn(planned, [...asides.map(({ text }) => text), end.text])
  onEnd(measure({ end, endedAt, sentAt, asides, firstByteAt }, times), endedAt)
}

function requestIn(text: string): Pick<PlainRequest, 'method' | 'params'> | undefined {
  const message = classifyMessage(parseJson(text))
  return message.kind === 'request' ? message : undefined
}

const NOT_SENT: CallMeasurement = { outcome: 'unbound', service: 0, response: 0, lag: 0 }

function measure(
  {
    end,
    endedAt = 0,
    sentAt,
    asides,
    firstByteAt,
  }: Pick<SentRequest, 'end' | 'endedAt' | 'sentAt' | 'asides' | 'firstByteAt'>,
  { due, intended }: CallTimes,
): CallMeasurement | undefined {
  if (end.kind === 'given-up' || end.kind === 'open') return undefined
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
  return outcomeOfResponse(parseJson(end.text))
}

function outcomeOfResponse(response: unknown): CallOutcome {
  const error = member(response, 'error')
  if (error !== undefined) return `error ${Number(member(error, 'code'))}`
  return member(member(response, 'result'), 'isError') === true ? 'isError' : 'ok'
}

function createPeer(
  { part }: LoadScenario,
  { open, timeout, startTimeout, timer, controller }: UserContext,
): Peer {
  return new Peer(part, {
    open,
    handshake: 'own',
    timeout: timeout ?? DEFAULT_TIMEOUT,
    startTimeout,
    onAsk: 'decline',
    onOpening: () => {},
    controller,
    timesFirstByte: true,
    now: () => timer.now(),
  })
}

function createSendContext(
  { part, plan, bindings }: LoadScenario,
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
