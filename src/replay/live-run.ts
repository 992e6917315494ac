import { findRange } from '../json/find-replace.ts'
import { isObject, jsonOnOneLine, member, parseJson } from '../json/parse.ts'
import {
  calledTool,
  classifyMessage,
  type Notification,
  type Request,
  toolOrPromptName,
  type Id,
} from '../protocol/message.ts'
import { exchangeOutcome, isPlainlyOk, type OutcomeKind } from '../protocol/outcome.ts'
import { mayHaveMember } from '../filter/filter.ts'
import { DEFAULT_TIMEOUT } from './session/deadlines.ts'
import type { Judges } from './judge/judge.ts'
import { judgeMessage } from './judge/judge.ts'
import type { UnsolicitedMessages } from './judge/unsolicited-messages.ts'
import type { PlannedMessage, ReplayPlan } from './plan/plan.ts'
import type { SendDecision } from './plan/plan-columns.ts'
import {
  holdUnsafeCall,
  requestEnvelope,
  type ToolDescriptions,
  type WritePermission,
} from './plan/tool-safety.ts'
import { previewText, type SendContext, sendAgain } from './send/send-message.ts'
import { withFreshIds } from './send/request-ids.ts'
import type { RunTotals } from './steps/run-totals.ts'
import type { StepLog } from './steps/step-log.ts'
import { hasFailed, type ReplayStep } from './steps/step.ts'
import { type ControlledRun, type RunFigures, shownStep, type ShownStep } from './control/controlled-run.ts'
import type { BreakpointSubject } from './control/breakpoints.ts'
import type { ExtraMessageEvent, MessageOutline, MessageView } from './control/commands.ts'
import { editRefused, type PendingEdit } from './control/message-edit.ts'

interface LiveRunParts {
  readonly plan: ReplayPlan
  readonly log: StepLog
  readonly context: SendContext
  readonly judges: Judges
  readonly unsolicited: UnsolicitedMessages
  readonly totals: RunTotals
  readonly tools: ToolDescriptions
  readonly permission: WritePermission
  /** The indexes of the messages that were sent and are not done. */
  readonly open: ReadonlySet<number>
}

/** Lets a controller look at a run and send more messages. */
export class LiveRun implements ControlledRun {
  readonly total: number
  readonly #handshakes: number
  readonly #parts: LiveRunParts

  constructor(parts: LiveRunParts) {
    this.total = parts.plan.size
    this.#handshakes = parts.plan.handshakes
    this.#parts = parts
  }

  messageAt(index: number): PlannedMessage {
    return this.#parts.plan.at(index)
  }

  decisionOf(index: number): SendDecision {
    return this.#parts.plan.decisionOf(index)
  }

  /** The step of a message that is done; `undefined` if it is not. */
  stepAt(index: number): ReplayStep | undefined {
    const { log, unsolicited } = this.#parts
    return log.stepOf(index) ?? unsolicited.deferredStep(index)
  }

  isOpen(index: number): boolean {
    return this.#parts.open.has(index)
  }

  outlineAt(index: number): MessageOutline {
    return outlineOf(this.messageAt(index))
  }

  /** Returns why the safety rule holds a message back; `undefined` if it may be sent. */
  holdReason(message: Request | Notification, tool: string | undefined): string | undefined {
    return holdUnsafeCall({ message, tool }, this.#parts.permission, this.#parts.tools)
  }

  /** The text that would be sent now. Values that are not known are the recorded ones. */
  textOf(planned: PlannedMessage): string {
    const { context } = this.#parts
    return previewText(planned, context) ?? context.values.fill(planned).text
  }

  viewOf(index: number, edit?: PendingEdit): MessageView {
    const { context } = this.#parts
    const planned = this.messageAt(index)
    const { turn, text, at, fate } = planned
    const step = this.stepAt(index)
    const isOpen = this.isOpen(index)
    return {
      ...outlineOf(planned),
      responseFrame: turn.response?.n ?? turn.cut,
      at,
      decision: fate,
      isNext: step === undefined && !isOpen,
      recorded: text,
      bindings: context.values.describe(planned),
      recordedResponse: turn.response?.text,
      ...(step === undefined
        ? {
            ...NOT_DONE,
            request: edit?.text ?? previewText(planned, context),
            isEdited: edit !== undefined,
            why: isOpen ? 'it has not arrived yet' : undefined,
          }
        : shownStep(step)),
    }
  }

  /** What breakpoints are compared with before a message is sent. */
  subjectBefore(planned: PlannedMessage): BreakpointSubject {
    return new MessageSubject(planned, () => this.textOf(planned))
  }

  /** What breakpoints are compared with after the response. */
  subjectOf(step: ReplayStep, planned: PlannedMessage): BreakpointSubject {
    return new MessageSubject(planned, () => step.sent ?? '', step)
  }

  /** Sends a message again and judges the new response. It is not part of the report. */
  async resend(
    planned: PlannedMessage,
    edit: PendingEdit | undefined,
    onSend: () => void,
  ): Promise<ReplayStep> {
    const { fate, message, link } = planned
    const { context, judges, unsolicited } = this.#parts
    if (fate.kind !== 'send')
      throw editRefused(
        `the message is not sent: ${fate.why}`,
        fate.kind === 'hold' ? 'allow the tool with --allow <tool>' : 'choose another message',
      )
    if (edit?.isSkipped === true) throw editRefused('the message would be skipped', 'leave out the action')
    unsolicited.disturb(link)
    onSend()
    const sent = await sendAgain(planned, context, edit)
    context.peer.notes.push(
      `${message.method} (${turnName(planned)}) was sent again by the user; the server kept its state`,
    )
    return judgeMessage(sent, judges)
  }

  /** Sends a message that is not on the tape, in the session of the message near it. */
  async inject(
    given: string,
    near: PlannedMessage,
    onSend: () => void,
  ): Promise<Omit<ExtraMessageEvent, 'type' | 'message'>> {
    const { context, unsolicited } = this.#parts
    const { peer, timeout, now } = context
    const [text, isRequest] = completeMessage(given, near)
    const message = classifyMessage(parseJson(text))
    if (message.kind !== 'request' && message.kind !== 'notification')
      throw editRefused('the text is not a request or a notification', INJECT_HINT)
    const why = this.holdReason(message, calledTool(message))
    if (why !== undefined)
      throw editRefused(`the message must not be sent: ${why}`, 'allow the tool with --allow <tool>')
    const session = await peer.sessionOf(near.link)
    unsolicited.disturb(near.link)
    onSend()
    peer.notes.push(`${message.method} was sent by the user; it is not on the tape`)
    const sentAt = now()
    if (!isRequest) {
      session.send(text)
      return { sent: text, response: undefined, why: undefined, duration: undefined }
    }
    const id = session.nextId()
    const { text: sent, token } = withFreshIds(text, id)
    const limits = { timeout: timeout ?? DEFAULT_TIMEOUT, isExtra: true }
    const end = await session.request({ text: sent, id, token, ...limits }).ended
    const response = end.kind === 'answered' ? end.text : undefined
    const problem = end.kind === 'timeout' ? `no answer within ${end.after} ms` : end.kind
    return {
      sent,
      response,
      why: response === undefined ? (end.kind === 'lost' ? end.why : problem) : undefined,
      duration: now() - sentAt,
    }
  }

  /** The numbers of a status event. `next` is the index of the next message. */
  facts(next: number): RunFigures {
    const { totals, plan, context, open: indexes } = this.#parts
    const { sent, received, open } = context.peer.traffic()
    const { histogram, errors } = totals
    const at = next < this.total ? plan.timeOf(next) : plan.ended
    return {
      progress: { handshakes: this.#handshakes, at, ended: plan.ended },
      open: [...indexes].slice(0, MAX_OPEN).map((index) => this.outlineAt(index)),
      counts: { sent, received, errors, skipped: totals.count('skipped'), held: totals.count('held') },
      metrics: {
        mean: histogram.mean,
        p95: histogram.percentile(0.95),
        max: histogram.max,
        pending: open.length,
      },
    }
  }
}

function outlineOf({ index, turn, message, tool }: PlannedMessage): MessageOutline {
  return { index, frame: turn.trigger?.n ?? 0, exchange: turn.exchange, method: message.method, tool }
}

/** A status event lists no more open messages than this. */
const MAX_OPEN = 20

function turnName({ turn }: PlannedMessage): string {
  return turn.exchange === undefined ? `frame ${turn.trigger?.n}` : `#${turn.exchange}`
}

const NOT_DONE: ShownStep = {
  request: undefined,
  isEdited: false,
  response: undefined,
  state: undefined,
  why: undefined,
  duration: undefined,
  recordedDuration: undefined,
  findings: [],
}

/** A message as breakpoints see it. Everything that takes time is computed when a breakpoint asks for it. */
class MessageSubject implements BreakpointSubject {
  readonly #planned: PlannedMessage
  readonly #textOf: () => string
  readonly #step: ReplayStep | undefined
  #sent: string | undefined
  #request: { readonly value: unknown } | undefined
  #response: { readonly value: unknown } | undefined

  constructor(planned: PlannedMessage, textOf: () => string, step?: ReplayStep) {
    this.#planned = planned
    this.#textOf = textOf
    this.#step = step
  }

  get index(): number {
    return this.#planned.index
  }

  get exchange(): number | undefined {
    return this.#planned.turn.exchange
  }

  get frame(): number | undefined {
    return this.#planned.turn.trigger?.n
  }

  get responseFrame(): number | undefined {
    return this.#planned.turn.response?.n ?? this.#planned.turn.cut
  }

  get server(): string | undefined {
    return this.#planned.turn.trigger?.server
  }

  get conn(): number | undefined {
    return this.#planned.turn.trigger?.conn
  }

  get id(): Id | undefined {
    const { message } = this.#planned
    return message.kind === 'request' ? message.id : undefined
  }

  get kinds(): BreakpointSubject['kinds'] {
    const { kind } = this.#planned.message
    return this.#step === undefined ? [kind] : [kind, 'response']
  }

  get dirs(): BreakpointSubject['dirs'] {
    return this.#step === undefined ? ['c2s'] : ['c2s', 's2c']
  }

  get methods(): readonly string[] {
    return [this.#planned.message.method]
  }

  get target(): string | undefined {
    return toolOrPromptName(this.#planned.message)
  }

  get status(): OutcomeKind | undefined {
    if (this.#step === undefined) return undefined
    const { answer } = this.#step
    return answer !== undefined && isPlainlyOk(answer) ? 'ok' : outcomeKind(this.#responseValue())
  }

  get durationMs(): number | undefined {
    return this.#step?.duration
  }

  get isDifferent(): boolean {
    return this.#step !== undefined && hasFailed(this.#step)
  }

  texts(): readonly string[] {
    return [this.#text(), ...(this.#step?.answer === undefined ? [] : [this.#step.answer])]
  }

  value(root: 'params' | 'result' | 'error'): unknown {
    return root === 'params' ? this.#params() : member(this.#responseValue(), root)
  }

  mayHave(root: 'params' | 'result' | 'error', name: string): boolean {
    return mayHaveMember(root === 'params' ? this.#text() : (this.#step?.answer ?? ''), name)
  }

  values(): object {
    const step = this.#step
    const outline = { ...outlineOf(this.#planned), params: this.#params() }
    if (step === undefined) return outline
    const { recordedAnswer, duration, state, findings } = step
    return {
      ...outline,
      result: this.value('result'),
      error: this.value('error'),
      recorded: recordedAnswer === undefined ? undefined : parseJson(recordedAnswer),
      duration,
      state,
      differences: findings.length,
    }
  }

  #text(): string {
    return (this.#sent ??= this.#textOf())
  }

  #params(): unknown {
    const text = this.#text()
    if (text === this.#planned.text) return this.#planned.message.params
    this.#request ??= { value: parseJson(text) }
    return member(this.#request.value, 'params')
  }

  #responseValue(): unknown {
    const answer = this.#step?.answer
    if (answer === undefined) return undefined
    return (this.#response ??= { value: parseJson(answer) }).value
  }
}

function outcomeKind(live: unknown): OutcomeKind {
  const message = live === undefined ? undefined : classifyMessage(live)
  return exchangeOutcome(message?.kind === 'response' ? message : undefined, 'unanswered').kind
}

/** Completes `{"method":"ping"}` to a message. The bytes of its params are kept. */
function completeMessage(given: string, near: PlannedMessage): readonly [text: string, isRequest: boolean] {
  const value = parseJson(given)
  const method = member(value, 'method')
  if (typeof method !== 'string') throw editRefused('the text is not a message with a method', INJECT_HINT)
  const isRequest = !method.startsWith('notifications/')
  const range = findRange(given, ['params'])
  const envelope = isRequest ? requestEnvelope(near.message.params) : undefined
  const own = member(value, 'params')
  const params =
    envelope === undefined || member(own, '_meta') !== undefined
      ? range && given.slice(range.start, range.end)
      : JSON.stringify({ ...(isObject(own) ? own : {}), _meta: envelope })
  const id = isRequest ? ',"id":0' : ''
  const rest = params === undefined ? '' : `,"params":${jsonOnOneLine(params)}`
  return [`{"jsonrpc":"2.0"${id},"method":${JSON.stringify(method)}${rest}}`, isRequest]
}

const INJECT_HINT =
  'write it like {"method":"tools/call","params":{"name":"search","arguments":{"q":"milk"}}}'
