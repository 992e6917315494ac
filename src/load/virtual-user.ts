import type { FoundBindings } from '../bindings/binding.ts'
import { member, parseJson } from '../json/parse.ts'
import type { OpenLink } from '../link/client-link.ts'
import { KnownResponses, type SharedMemory } from '../link/known-responses.ts'
import type { ReplayController } from '../replay/control/controller.ts'
import { answerTimeout, DEFAULT_TIMEOUT } from '../replay/session/deadlines.ts'
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
import { classifyMessage, META_KEYS, type Request } from '../protocol/message.ts'
import type { AnswerText, ExchangeCaller, LiveCall } from '../replay/session/live-session.ts'
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
  /** Milliseconds that the answer may take by default. */
  readonly timeout: number
  /** The text before and after its id, if nothing but the id changes and only the response is of interest. */
  readonly plain: PlainRequest | undefined
}

interface PlainRequest {
  readonly request: Request
  readonly before: string
  readonly after: string
  readonly isAscii: boolean
  readonly known: KnownResponses
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
  const requests = new PlainRequests(plan)
  const ends = all.map(({ turn, at }) => turn.response?.t ?? at)
  const messages = all.flatMap((planned, place) => {
    if (planned.fate.kind !== 'send') return []
    const previous = all[place - 1]
    const ready = Math.max(previous?.at ?? planned.at, ...planned.after.map((index) => ends[index] ?? 0))
    const { message, tool, at } = planned
    const recorded = message.kind === 'request' ? (ends[place] ?? at) - at : 0
    const label = tool ?? message.method
    const timeout = answerTimeout(undefined, planned.turn)
    const think = Math.max(0, at - ready)
    return [{ planned, label, think, recorded, timeout, plain: requests.of(planned) }]
  })
  return { name, part, plan, bindings, messages, heldBack }
}

/** The requests of a tape that can be sent in the short way. Equal ones share what is known about their responses. */
class PlainRequests {
  readonly #plan: ReplayPlan
  readonly #byText = new Map<string, PlainRequest>()
  readonly #memory: SharedMemory = { left: MAX_KNOWN_RESPONSES }

  constructor(plan: ReplayPlan) {
    this.#plan = plan
  }

  /** Returns `undefined` for a request that needs more than its answer, such as one that the tape cancels. */
  of({ message, turn, text }: PlannedMessage): PlainRequest | undefined {
    if (message.kind !== 'request' || this.#plan.hasRounds || this.#plan.cancelled.size > 0) return undefined
    if (turn.response === undefined || turn.steps.length > 1 || text.includes(META_KEYS.progressToken))
      return undefined
    const id = findId(text)
    if (id === undefined) return undefined
    const [before, after] = [text.slice(0, id.start), text.slice(id.end)]
    const key = `${before}\n${after}`
    const known = this.#byText.get(key)
    if (known !== undefined) return known
    const plain = {
      request: message,
      before,
      after,
      isAscii: Buffer.byteLength(text) === text.length,
      known: new KnownResponses(this.#memory),
    }
    this.#byText.set(key, plain)
    return plain
  }
}

/** Characters of responses that are remembered for a tape. */
const MAX_KNOWN_RESPONSES = 16 * 1024 * 1024

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
  /** What is called when the run is stopped. With thousands of users, as many listeners of one `AbortSignal` would be slow. */
  readonly onStop: Set<() => void>
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
  context.onStop.add(giveUp)
  const user: UserState = {
    peer,
    send,
    context,
    ended: new Float64Array(scenario.plan.size),
    intendedEnd: new Float64Array(scenario.plan.size),
    open: [],
  }
  const { ended, intendedEnd, open } = user
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
      for (const index of planned.after) if (open[index] !== undefined) await open[index]
      const wait = think * thinkFactor
      const due = latestOf(planned.after, ended, sent) + wait
      // A session that is ahead of its schedule has no slack that could hide a later delay.
      intended = Math.min(due, latestOf(planned.after, intendedEnd, intended) + wait)
      sent = timer.now()
      if (due > sent) {
        await timer.until(due)
        sent = timer.now()
      }
      if (controller.status === 'stopped') return 'cut'
      const call = new UserCall(message, { due, intended, sent }, user)
      open[planned.index] = call.isSentDirectly() ? call.ended : call.sendAsPlanned()
    }
    await Promise.all(open.filter((call) => call !== undefined))
    return controller.status === 'stopped' ? 'cut' : 'done'
  } finally {
    context.onStop.delete(giveUp)
    await peer.close()
  }
}

function latestOf(indexes: readonly number[], times: Float64Array, atLeast: number): number {
  let latest = atLeast
  for (const index of indexes) latest = Math.max(latest, times[index] ?? 0)
  return latest
}

interface UserState {
  readonly peer: Peer
  readonly send: SendContext
  readonly context: Pick<UserContext, 'expected' | 'onCall'>
  /** For each message, when its response came, and when a user on schedule would have had it. */
  readonly ended: Float64Array
  readonly intendedEnd: Float64Array
  /** For each message, its call while it has no response. */
  readonly open: (Promise<void> | undefined)[]
}

/** When a request was due, when a user on schedule would have sent it, and when it was sent. */
interface CallTimes {
  readonly due: number
  readonly intended: number
  readonly sent: number
}

/** One request of a virtual user. */
class UserCall implements ExchangeCaller {
  /** Resolves when a call that was sent directly is over. */
  readonly ended: Promise<void>
  readonly #message: ScenarioMessage
  readonly #times: CallTimes
  readonly #user: UserState
  #resolve: () => void = () => {}

  constructor(message: ScenarioMessage, times: CallTimes, user: UserState) {
    this.#message = message
    this.#times = times
    this.#user = user
    this.ended = new Promise((resolve) => (this.#resolve = resolve))
  }

  /**
   * Sends a request in the short way of the session, which is several times as fast. Returns false if the message needs more, or the
   * connection cannot do it.
   */
  isSentDirectly(): boolean {
    const { planned, plain, timeout: usual } = this.#message
    const { peer, send } = this.#user
    const session = plain && peer.openSessionOf(planned.link)
    if (session === undefined || plain === undefined) return false
    const { text: filled, unbound } = send.values.fill(planned)
    if (unbound.length > 0) return false
    const id = session.nextId()
    const isUnchanged = filled === planned.text
    const text = isUnchanged ? plain.before + String(id) + plain.after : replaceId(filled, String(id))
    const request = isUnchanged ? plain.request : requestIn(filled)
    if (request === undefined) return false
    const known = send.values.learnsFrom(planned) ? undefined : plain.known
    const isAscii = isUnchanged && plain.isAscii
    const sentAt = this.#times.sent
    const timeout = send.timeout ?? usual
    return session.exchange({ text, isAscii, id, request, timeout, sentAt, known }, this)
  }

  onAnswer(response: AnswerText | undefined, firstByteAt: number, endedAt: number): boolean {
    const { due, intended, sent } = this.#times
    const outcome = response === undefined ? 'ok' : outcomeOfResponse(response.value)
    if (response !== undefined) this.#user.send.values.learn(this.#message.planned, [response.text])
    this.#end(
      {
        outcome,
        service: endedAt - sent,
        response: endedAt - intended,
        lag: Math.max(0, sent - due),
        firstByte: firstByteAt - sent,
        firstProgress: undefined,
      },
      endedAt,
    )
    this.#resolve()
    return outcome === 'ok'
  }

  onCall(call: LiveCall): void {
    void this.#endWith(call)
  }

  /** Waits for a request whose response is not one JSON body. */
  async #endWith(call: LiveCall): Promise<void> {
    const { send } = this.#user
    const end = await call.ended
    const { endedAt = send.now(), sentAt, asides, firstByteAt } = call
    if (end.kind === 'answered')
      send.values.learn(this.#message.planned, [...asides.map(({ text }) => text), end.text])
    this.#end(measure({ end, endedAt, sentAt, asides, firstByteAt }, this.#times), endedAt)
    this.#resolve()
  }

  /** Sends a message like a replay. */
  async sendAsPlanned(): Promise<void> {
    const { send } = this.#user
    const result = await sendMessage(this.#message.planned, send)
    const isUnbound = result.kind === 'unsent' && result.state === 'unbound'
    const measured = result.kind === 'requested' ? measure(result, this.#times) : undefined
    this.#end(isUnbound ? NOT_SENT : measured, send.now())
  }

  /** `measurement` is `undefined` if nothing was measured. */
  #end(measurement: CallMeasurement | undefined, at: number): void {
    const { planned, label } = this.#message
    const { ended, intendedEnd, open, context } = this.#user
    const { intended, sent } = this.#times
    ended[planned.index] = at
    intendedEnd[planned.index] = intended + Math.min(context.expected(this.#message), at - sent)
    open[planned.index] = undefined
    if (measurement !== undefined) context.onCall(label, measurement)
  }
}

function requestIn(text: string): Request | undefined {
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

function createPeer({ part }: LoadScenario, { open, timeout, startTimeout, timer }: UserContext): Peer {
  return new Peer(part, {
    open,
    handshake: 'own',
    timeout: timeout ?? DEFAULT_TIMEOUT,
    startTimeout,
    onAsk: 'decline',
    onOpening: () => {},
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
