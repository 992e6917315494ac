import { itemRanges } from '../json/find-replace.ts'
import { idKey } from '../protocol/message.ts'
import { Conversation, type TurnLog } from './conversation.ts'
import { isSeenBy, type Frame, type LinkSide, type MessageFrame, type RawFrame } from './frame.ts'
import type { RecordedMessage, TurnStep, Turn } from './turns.ts'

/** Assembles turns from frames: pairs requests with responses and attributes messages of the server to a turn. */
export class TurnBuilder {
  readonly #log = new InMemoryTurnLog()
  readonly #conversations = new TapeConversations(this.#log)
  readonly #side: LinkSide
  readonly #numbers = new HeldRequestNumbers()

  /** Messages that were held are taken as this side saw them. */
  constructor(side: LinkSide = 'client') {
    this.#side = side
  }

  add(frame: Frame): void {
    if (frame.kind === 'message' && !isSeenBy(frame, this.#side))
      return void (this.#log.exchanges = this.#numbers.afterUnseen(frame, this.#log.exchanges))
    this.#log.heldExchange = frame.kind === 'message' ? this.#numbers.of(frame) : undefined
    if (frame.kind === 'raw' && frame.cut !== undefined) this.#conversations.addCut(frame)
    if (frame.kind !== 'message') return
    for (const recorded of messagesInFrame(frame)) this.#conversations.add(recorded)
  }

  /** Passes over a frame that is not shown. Its requests keep their numbers. */
  skip(frame: Frame): void {
    this.#log.exchanges += countRequests(frame)
  }

  /** The turns in the order of their triggers. */
  turns(): readonly Turn[] {
    return this.#log.turns
  }

  /** Messages that belong to no turn: responses without a request, and values that are not JSON-RPC messages. */
  strays(): readonly RecordedMessage[] {
    return this.#log.strays
  }
}

/**
 * Numbers requests that were held. A request has the same number on both sides: that of the frame in which it arrived. A request
 * that only the server saw, because it was repeated, has a number of its own.
 */
class HeldRequestNumbers {
  readonly #numbers = new Map<number, number>()

  /** Passes over a frame of the other side. Returns the number of exchanges after it. */
  afterUnseen(frame: MessageFrame, exchanges: number): number {
    if (frame.of !== undefined) return exchanges
    const count = countRequests(frame)
    if (count > 0) this.#numbers.set(frame.n, exchanges + 1)
    return exchanges + count
  }

  /** The number of the request that arrived in an earlier frame, if this one is its delivery. */
  of(frame: MessageFrame): number | undefined {
    return frame.of === undefined ? undefined : this.#numbers.get(frame.of)
  }
}

/** The conversations of a tape, one for each connection. They share a log. */
export class TapeConversations<Kept, Ask> {
  readonly #log: TurnLog<Kept, Ask>
  readonly #byConnection = new Map<string, Conversation<Kept, Ask>>()
  /** The conversations in which a server asked over HTTP, by the id of the question and the server. */
  readonly #asking = new Map<string, readonly Conversation<Kept, Ask>[]>()
  /** Most messages belong to the same connection as the one before. */
  #last:
    | (Pick<RecordedMessage, 'server' | 'conn'> & { readonly conversation: Conversation<Kept, Ask> })
    | undefined

  constructor(log: TurnLog<Kept, Ask>) {
    this.#log = log
  }

  add(recorded: RecordedMessage): void {
    const conversation = this.#conversationOf(recorded)
    if (recorded.x === undefined) conversation.add(recorded)
    else this.#addFromExchange(recorded, conversation)
  }

  /**
   * A server over HTTP without sessions asks in one exchange and gets the answer in another. Each is a connection of its own, so
   * an answer that its connection does not wait for belongs to the first open question with its id.
   */
  #addFromExchange(recorded: RecordedMessage, own: Conversation<Kept, Ask>): void {
    const { message, dir, server } = recorded
    const id = 'id' in message ? message.id : undefined
    if (id === undefined || id === null) return own.add(recorded)
    const key = `${idKey(id)} ${server}`
    const asking = (this.#asking.get(key) ?? []).filter((each) => each.isAsked(id))
    if (message.kind === 'request' && dir === 's2c') this.#asking.set(key, [...asking, own])
    const isStrayAnswer = message.kind === 'response' && dir === 'c2s' && !own.isAsked(id)
    const target = isStrayAnswer ? (asking[0] ?? own) : own
    target.add(recorded)
  }

  addCut(frame: RawFrame): void {
    this.#conversationOf(frame).addCut(frame)
  }

  #conversationOf({ server, conn }: Pick<RecordedMessage, 'server' | 'conn'>): Conversation<Kept, Ask> {
    if (this.#last?.conn === conn && this.#last.server === server) return this.#last.conversation
    const key = `${conn} ${server}`
    const conversation = this.#byConnection.get(key) ?? new Conversation(this.#log)
    this.#byConnection.set(key, conversation)
    this.#last = { server, conn, conversation }
    return conversation
  }
}

interface OpenTurn extends Turn {
  steps: TurnStep[]
  response: RecordedMessage | undefined
  cut?: number
}

interface OpenServerRequest {
  readonly kind: 'ask'
  readonly request: RecordedMessage
  answer: RecordedMessage | undefined
}

class InMemoryTurnLog implements TurnLog<OpenTurn, OpenServerRequest> {
  readonly turns: Turn[] = []
  readonly strays: RecordedMessage[] = []
  exchanges = 0
  /** The number of the request in the next frame, if it is known already. */
  heldExchange: number | undefined

  begin(trigger: RecordedMessage | undefined): OpenTurn {
    const isExchange = trigger?.message.kind === 'request'
    const exchange = isExchange ? (this.heldExchange ?? ++this.exchanges) : undefined
    if (this.heldExchange !== undefined && isExchange) this.heldExchange++ // the next request of a batch
    const turn = { trigger, steps: NO_STEPS, response: undefined, exchange }
    this.turns.push(turn)
    return turn
  }

  notify(turn: OpenTurn, message: RecordedMessage): void {
    this.#add(turn, { kind: 'notify', message })
  }

  ask(turn: OpenTurn, request: RecordedMessage): OpenServerRequest {
    const ask: OpenServerRequest = { kind: 'ask', request, answer: undefined }
    this.#add(turn, ask)
    return ask
  }

  answer(ask: OpenServerRequest, message: RecordedMessage): void {
    ask.answer = message
  }

  respond(turn: OpenTurn, message: RecordedMessage): void {
    turn.response = message
    this.#add(turn, { kind: 'respond', message })
  }

  cut(turn: OpenTurn, frame: number): void {
    turn.cut = frame
  }

  stray(message: RecordedMessage): void {
    this.strays.push(message)
  }

  // Most turns have one step. Pushing to an empty array would reserve room for many.
  #add(turn: OpenTurn, step: TurnStep): void {
    if (turn.steps.length === 0) turn.steps = [step]
    else turn.steps.push(step)
  }
}

/** Shared by all turns without steps. */
const NO_STEPS: TurnStep[] = []

export function buildTurns(frames: Iterable<Frame>): readonly Turn[] {
  const builder = new TurnBuilder()
  for (const frame of frames) builder.add(frame)
  return builder.turns()
}

/** The number of requests of the client in a frame, which may be a batch. */
export function countRequests(frame: Frame): number {
  if (frame.kind !== 'message' || frame.dir !== 'c2s') return 0
  const { message } = frame
  return (message.kind === 'batch' ? message.items : [message]).filter(({ kind }) => kind === 'request')
    .length
}

/** The message of a frame, or the items of its batch, each with its own text. */
export function messagesInFrame(frame: MessageFrame): readonly RecordedMessage[] {
  const { n, t, server, conn, x, dir, text, message } = frame
  if (message.kind !== 'batch' && x === undefined) return [{ n, t, server, conn, dir, text, message }]
  const origin = { n, t, server, conn, ...(x === undefined ? {} : { x }), dir }
  if (message.kind !== 'batch') return [{ ...origin, text, message }]
  const ranges = itemRanges(text)
  return message.items.flatMap((one, item) => {
    if (one.kind === 'batch') return [] // A batch inside a batch is invalid and classified as such.
    return [{ ...origin, text: text.slice(ranges[item]?.start, ranges[item]?.end), message: one, item }]
  })
}
