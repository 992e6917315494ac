import type { Binding, BindingConsumer, BindingProducer, LocationStep } from '../../bindings/binding.ts'
import { findBindings } from '../../bindings/find/find-bindings.ts'
import { JsonNode } from '../../json/node.ts'
import { member } from '../../json/parse.ts'
import type { JsonPath } from '../../json/path.ts'
import { envelopeVersion, requestTarget } from '../../protocol/message.ts'
import type { HeaderList } from '../../tape/frame.ts'
import type { Turn } from '../../tape/turns.ts'
import { countHeader, type ExportedTape, type Losses } from './export-format.ts'

/** The messages of one client over one connection, as a program can send them over HTTP. */
export interface ExportedSession {
  readonly server: string
  readonly conn: number
  readonly steps: readonly ExportedStep[]
}

/** A message of the client, and what is expected of the server. */
export interface ExportedStep {
  /** The number of the exchange, or of the frame for a notification. */
  readonly label: string
  readonly title: string
  readonly method: string
  readonly target: string | undefined
  /** The message, with the id that it has on the tape. */
  readonly message: string
  readonly isRequest: boolean
  /** `result` or `error` of the recorded response. */
  readonly expected: { readonly name: 'result' | 'error'; readonly json: string } | undefined
  /** Values of the response that later messages need. */
  readonly produces: readonly ProducedValue[]
  /** Values of earlier responses that belong into the message. */
  readonly uses: readonly UsedValue[]
  /** The answers of the client to requests of the server, in order. */
  readonly answers: readonly ExportedAnswer[]
  readonly headers: HeaderList
}

interface ExportedAnswer {
  readonly method: string
  /** `result` or `error` with its value, as members of a message. */
  readonly json: string
}

interface ProducedValue {
  readonly name: string
  readonly recorded: string
  readonly path: JsonPath
  readonly inside: readonly LocationStep[]
}

interface UsedValue {
  readonly name: string
  readonly recorded: string
  readonly path: JsonPath
}

export interface RequestOptions {
  /** Whether the format can answer requests of the server. */
  readonly answers: boolean
}

/** The sessions of a tape for formats that send requests. What they cannot carry is counted. */
export function exportedSessions(
  tape: ExportedTape,
  losses: Losses,
  { answers }: RequestOptions,
): readonly ExportedSession[] {
  countHeader(tape.header, losses, { server: true })
  countOthers(tape, losses)
  const sessions = new Map<string, { server: string; conn: number; turns: Turn[] }>()
  for (const turn of tape.turns) {
    const { trigger } = turn
    if (trigger === undefined || !canSend(turn, losses, answers)) continue
    const key = `${trigger.conn} ${trigger.server}`
    const session = sessions.get(key) ?? { server: trigger.server, conn: trigger.conn, turns: [] }
    sessions.set(key, session)
    session.turns.push(turn)
  }
  return joinStateless([...sessions.values()]).map(({ server, conn, turns }) => ({
    server,
    conn,
    steps: stepsOf(tape, turns, losses),
  }))
}

/** Stateless servers have a connection for each request. They are one session here. */
function joinStateless(
  sessions: readonly { server: string; conn: number; turns: Turn[] }[],
): readonly { server: string; conn: number; turns: readonly Turn[] }[] {
  const joined: { server: string; conn: number; turns: Turn[] }[] = []
  for (const session of sessions) {
    const last = joined.at(-1)
    const isStateless = !session.turns.some((turn) => methodOf(turn) === 'initialize')
    const wasStateless = last !== undefined && !last.turns.some((turn) => methodOf(turn) === 'initialize')
    if (last !== undefined && isStateless && wasStateless && last.server === session.server)
      last.turns.push(...session.turns)
    else joined.push({ ...session, turns: [...session.turns] })
  }
  return joined
}

function methodOf({ trigger }: Turn): string {
  const message = trigger?.message
  return message?.kind === 'request' || message?.kind === 'notification' ? message.method : ''
}

function countOthers({ frames, turns }: ExportedTape, losses: Losses): void {
  losses.note('timing')
  losses.count('stderr frames', frames.filter(({ kind }) => kind === 'stderr').length)
  losses.count('raw frames', frames.filter(({ kind }) => kind === 'raw').length)
  const notifications = turns.flatMap(({ steps }) => steps.filter(({ kind }) => kind === 'notify'))
  losses.count('checks of notifications of the server', notifications.length)
}

function canSend({ trigger, response, steps }: Turn, losses: Losses, answers: boolean): boolean {
  const method = trigger?.message.kind === 'request' ? trigger.message.method : ''
  if (method === 'subscriptions/listen') return refuse(losses, 'subscriptions')
  if (trigger?.message.kind === 'request' && response === undefined)
    return refuse(losses, 'requests without a response')
  if (!answers && steps.some(({ kind }) => kind === 'ask'))
    return refuse(losses, 'exchanges in which the server asks the client')
  return true
}

function refuse(losses: Losses, what: string): false {
  losses.count(what)
  return false
}

function stepsOf(tape: ExportedTape, turns: readonly Turn[], losses: Losses): readonly ExportedStep[] {
  const { bindings } = findBindings(turns, { started: tape.header.started })
  const values = new BoundValues(bindings, losses)
  return turns.flatMap((turn, index) => {
    const { trigger, response, steps, exchange } = turn
    if (trigger === undefined) return []
    const { message } = trigger
    if (message.kind !== 'request' && message.kind !== 'notification') return []
    const target = requestTarget(message.params)
    const label = exchange === undefined ? `frame ${trigger.n}` : `#${exchange}`
    return [
      {
        label,
        title: `${label} ${message.method}${target === undefined ? '' : ` ${target}`}`,
        method: message.method,
        target,
        message: trigger.text,
        isRequest: message.kind === 'request',
        expected: response === undefined ? undefined : expectedOf(response.text),
        produces: values.producedBy(index),
        uses: values.usedBy(trigger.n),
        answers: steps.flatMap((step) =>
          step.kind === 'ask' && step.request.message.kind === 'request' && step.answer !== undefined
            ? [{ method: step.request.message.method, json: answerMembers(step.answer.text) }]
            : [],
        ),
        headers: modernHeaders(message.method, message.params),
      },
    ]
  })
}

function expectedOf(text: string): ExportedStep['expected'] {
  const node = JsonNode.parse(text)
  for (const name of ['result', 'error'] as const) {
    const found = node?.get(name)
    if (found !== undefined) return { name, json: found.text }
  }
  return undefined
}

function answerMembers(text: string): string {
  const expected = expectedOf(text)
  return expected === undefined ? '"result":{}' : `"${expected.name}":${expected.json}`
}

/** The headers that a stateless revision requires. */
function modernHeaders(method: string, params: unknown): HeaderList {
  const version = envelopeVersion(params)
  if (version === undefined) return []
  const name = member(params, 'name') ?? member(params, 'uri')
  return [
    ['MCP-Protocol-Version', version],
    ['Mcp-Method', method],
    ...(typeof name === 'string' && /^[\x20-\x7e]*$/.test(name) ? [['Mcp-Name', name] as const] : []),
  ]
}

/** The values that are carried from responses to later messages. */
class BoundValues {
  readonly #bindings: readonly (readonly [name: string, Binding, BindingProducer])[]

  constructor(bindings: readonly Binding[], losses: Losses) {
    this.#bindings = bindings.flatMap((binding, index) => {
      const producer = [binding.producer, ...binding.also].find(isReadable)
      if (producer === undefined) losses.count('bindings')
      return producer === undefined ? [] : [[`value${index + 1}`, binding, producer] as const]
    })
  }

  producedBy(turn: number): readonly ProducedValue[] {
    return this.#bindings.flatMap(([name, { value }, producer]) =>
      producer.kind === 'message' && producer.turn === turn
        ? [{ name, recorded: value, path: producer.path, inside: producer.inside }]
        : [],
    )
  }

  usedBy(frame: number): readonly UsedValue[] {
    return this.#bindings.flatMap(([name, { value, consumers }]) =>
      consumers
        .filter((consumer) => consumer.frame === frame && isWritable(consumer))
        .map(({ path }) => ({ name, recorded: value, path })),
    )
  }
}

/** Whether a script can find the value: in a member of the result, in JSON in a text, or after the same words. */
function isReadable(producer: BindingProducer): boolean {
  return (
    producer.kind === 'message' &&
    (producer.path[0] === 'result' || producer.path[0] === 'error') &&
    producer.inside.every(({ kind }) => kind === 'json' || kind === 'token')
  )
}

function isWritable({ use }: BindingConsumer): boolean {
  return use !== 'key'
}
