import type { Binding, FoundBindings, MessageProducer } from '../bindings/binding.ts'
import { findRange, replaceRange } from '../json/find-replace.ts'
import { parseJson } from '../json/parse.ts'
import type { JsonPath } from '../json/path.ts'
import { classifyMessage, idToJson } from '../protocol/message.ts'
import { selectServerPart } from '../replay/plan/server-part.ts'
import { isHandshakeTurn } from '../shrink/candidate.ts'
import type { FailingSession } from '../shrink/failing-session.ts'
import type { PlayedSession } from '../shrink/prober.ts'
import type { RecordedMessage, Turn, TurnStep } from '../tape/turns.ts'

/** One message of a varied session: a message of the tape, and how it is sent. */
export interface VariedStep {
  /** The position of its turn on the tape. */
  readonly item: number
  /** The value of its params that is sent instead of the recorded one. */
  readonly edit?: { readonly path: JsonPath; readonly value: unknown } | undefined
  /** It is sent while the message before it is open. */
  readonly isTogether?: true
  /** It is cancelled as soon as it is sent. */
  readonly isCancelled?: true
  /** Values of other responses are sent as recorded, so they come from a session that is over. */
  readonly hasStaleValues?: true
  /** For a binding, by its place in the list, the one whose value is sent instead. */
  readonly crossed?: ReadonlyMap<number, number>
  /** The session that it belongs to, if there are several. */
  readonly session?: number
  /** The session whose generated values it sends; by default its own. */
  readonly valuesOf?: number
  /** What is varied, if the step alone is an attack. */
  readonly probe?: string
}

/** A session that can be replayed, and its steps by the frames of their messages. */
interface VariedSession extends PlayedSession {
  readonly stepOf: ReadonlyMap<number, VariedStep>
}

/** Makes a session of these steps that can be replayed. Messages get numbers of their own, and each gets the values of the nearest earlier message that generates them. */
export async function playableSession(
  { tape, part, bindings }: FailingSession,
  steps: readonly VariedStep[],
): Promise<VariedSession> {
  const writer = new TurnWriter()
  const handshakes = [...part.turns].filter(isHandshakeTurn)
  const connections = new Set(steps.map(({ session }) => session))
  for (const session of connections)
    for (const turn of handshakes) writer.add(turn, { session, isTogether: false })
  for (const { item, edit, isTogether = false, isCancelled = false, session } of steps) {
    const turn = part.turns.at(item)
    if (turn !== undefined) writer.add(edited(turn, edit), { session, isTogether, isCancelled, item })
  }
  const turns = writer.finish()
  const played = { ...tape, turns, strays: [], rest: [] }
  return {
    tape: played,
    part: await selectServerPart(played, part.server),
    bindings: carriedBetween(bindings, steps, writer.copies),
    stepOf: new Map(
      writer.copies.flatMap(({ place }, at) =>
        steps[at] === undefined ? [] : [[turns[place]?.trigger?.n ?? 0, steps[at]]],
      ),
    ),
  }
}

/** A request that overlapped the one before it on the tape overlaps it again. */
export function stepAsRecorded(item: number, { part, items }: FailingSession): VariedStep {
  const before = items[items.indexOf(item) - 1]
  const [own, other] = [part.turns.at(item), before === undefined ? undefined : part.turns.at(before)]
  const end = other?.response?.n
  const isTogether = end !== undefined && own?.trigger !== undefined && own.trigger.n < end
  return { item, ...(isTogether && { isTogether }) }
}

function edited(turn: Turn, edit: VariedStep['edit']): Turn {
  const { trigger } = turn
  if (trigger === undefined || edit === undefined) return turn
  const range = findRange(trigger.text, edit.path)
  if (range === undefined) return turn
  return {
    ...turn,
    trigger: { ...trigger, text: replaceRange(trigger.text, range, JSON.stringify(edit.value)) },
  }
}

interface HowSent {
  readonly session: number | undefined
  readonly isTogether: boolean
  readonly isCancelled?: boolean
  /** The position of the turn on the tape; `undefined` for the handshake. */
  readonly item?: number
}

/** A copy of a turn: its place in the varied session, and the frames of its messages by their frames on the tape. */
interface TurnCopy {
  readonly place: number
  readonly frames: Map<number, number>
}

/** Writes turns one after the other. A message waits for the responses that were written before it. */
class TurnWriter {
  readonly turns: Turn[] = []
  /** The copies of the turns of the steps, in order. */
  readonly copies: TurnCopy[] = []
  #frame = 0
  #exchange = 0
  #open: (() => void)[] = []

  add(turn: Turn, { session, isTogether, isCancelled = false, item }: HowSent): void {
    if (!isTogether) this.#close()
    const place = this.turns.length
    const copy: TurnCopy = { place, frames: new Map() }
    if (item !== undefined) this.copies.push(copy)
    const { trigger } = turn
    if (trigger === undefined) return
    const id = `v${this.#exchange + 1}`
    const renumbered = (message: RecordedMessage): RecordedMessage => {
      const { id: _, item: __, ...rest } = message // ranges and places in a batch do not hold any more
      const n = ++this.#frame
      copy.frames.set(message.n, n)
      if (session === undefined) return { ...rest, n }
      const { x: ___, ...origin } = rest // each session has a connection of its own
      return { ...origin, n, conn: session }
    }
    const sent = withId(renumbered(trigger), id)
    const isRequest = sent.message.kind === 'request'
    const exchange = isRequest ? ++this.#exchange : undefined
    this.turns.push({ trigger: sent, steps: [], response: undefined, exchange })
    if (isCancelled && isRequest) {
      this.turns.push({ trigger: cancellationOf(sent, id, ++this.#frame), steps: [], response: undefined })
      return
    }
    this.#open.push(() => {
      const steps = turn.steps.map((step) => copyStep(step, renumbered, id))
      const response = steps.findLast((step) => step.kind === 'respond')?.message
      this.turns[place] = { trigger: sent, steps, response, exchange }
    })
  }

  finish(): readonly Turn[] {
    this.#close()
    return this.turns
  }

  #close(): void {
    for (const respond of this.#open) respond()
    this.#open = []
  }
}

function copyStep(step: TurnStep, copy: (message: RecordedMessage) => RecordedMessage, id: string): TurnStep {
  if (step.kind === 'respond') return { ...step, message: withId(copy(step.message), id) }
  if (step.kind === 'notify') return { ...step, message: copy(step.message) }
  return { ...step, request: copy(step.request), answer: step.answer && copy(step.answer) }
}

/** Gives a request or response another id, so that no two requests of the session have the same one. */
function withId(message: RecordedMessage, id: string): RecordedMessage {
  const range = findRange(message.text, ['id'])
  const text = range === undefined ? message.text : replaceRange(message.text, range, idToJson(id))
  const parsed = classifyMessage(parseJson(text))
  return parsed.kind === 'batch' ? message : { ...message, text, message: parsed }
}

function cancellationOf(request: RecordedMessage, requestId: string, n: number): RecordedMessage {
  const text = JSON.stringify({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId, reason: 'no longer needed' },
  })
  const message = classifyMessage(parseJson(text))
  return message.kind === 'batch' ? request : { ...request, n, text, message }
}

/** The bindings of the tape between the copies of its messages. A value without an earlier producer is sent as recorded. */
function carriedBetween(
  found: FoundBindings,
  steps: readonly VariedStep[],
  copies: readonly TurnCopy[],
): FoundBindings {
  const carried = new Map<string, Binding>()
  const bindings = found.bindings.flatMap((binding): readonly Binding[] =>
    binding.producer.kind === 'clock' ? clockBindings(binding, steps, copies) : [],
  )
  for (const [at, { item, hasStaleValues, crossed, session, valuesOf = session }] of steps.entries()) {
    if (hasStaleValues) continue
    for (const [number, binding] of found.bindings.entries()) {
      const consumers = binding.consumers.filter(({ turn }) => turn === item)
      const copy = copies[at]
      if (consumers.length === 0 || copy === undefined || binding.producer.kind === 'clock') continue
      const source = found.bindings[crossed?.get(number) ?? number] ?? binding
      const producers = [source.producer, ...source.also].flatMap((producer) =>
        producer.kind === 'message'
          ? (copyOfProducer(producer, at, { steps, copies, session: valuesOf }) ?? [])
          : [],
      )
      const [producer, ...also] = producers.toSorted((one, other) => other.turn - one.turn)
      if (producer === undefined) continue
      // The value is still recorded as what the consumer sends.
      const key = JSON.stringify([number, producer.turn, producer.frame])
      const known = carried.get(key)
      const places = consumers.flatMap((consumer) => {
        const frame = copy.frames.get(consumer.frame)
        const { exchange: _, item: __, ...rest } = consumer
        return frame === undefined ? [] : [{ ...rest, turn: copy.place, frame }]
      })
      carried.set(key, {
        ...binding,
        producer,
        also,
        consumers: [...(known?.consumers ?? []), ...places],
      })
    }
  }
  return { bindings: [...bindings, ...carried.values()], guesses: [] }
}

/** The nearest earlier copy of the message that generates a value. */
function copyOfProducer(
  producer: MessageProducer,
  at: number,
  {
    steps,
    copies,
    session,
  }: {
    readonly steps: readonly VariedStep[]
    readonly copies: readonly TurnCopy[]
    readonly session: number | undefined
  },
): MessageProducer | undefined {
  for (let earlier = at - 1; earlier >= 0; earlier--) {
    const step = steps[earlier]
    if (step?.item !== producer.turn || step.session !== session) continue
    const copy = copies[earlier]
    const frame = copy?.frames.get(producer.frame)
    if (copy === undefined || frame === undefined) continue
    const { exchange: _, item: __, ...rest } = producer
    return { ...rest, turn: copy.place, frame }
  }
  return undefined
}

function clockBindings(
  binding: Binding,
  steps: readonly VariedStep[],
  copies: readonly TurnCopy[],
): readonly Binding[] {
  const consumers = steps.flatMap(({ item }, at) =>
    binding.consumers
      .filter(({ turn }) => turn === item)
      .flatMap((consumer) => {
        const copy = copies[at]
        const frame = copy?.frames.get(consumer.frame)
        const { exchange: _, item: __, ...rest } = consumer
        return copy === undefined || frame === undefined ? [] : [{ ...rest, turn: copy.place, frame }]
      }),
  )
  return consumers.length === 0 ? [] : [{ ...binding, consumers }]
}
