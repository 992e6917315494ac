import type {
  Binding,
  BindingConsumer,
  ClockProducer,
  FoundBindings,
  LocationStep,
  TapeLocation,
} from './binding.ts'
import {
  parseClockProducer,
  parseLocation,
  parseMessageNumber,
  type WrittenLocation,
  type WrittenMessage,
  formatTapeLocation,
  formatProducer,
  type WrittenLocationStep,
} from './location-text.ts'
import { readLocation, describeToken } from './location.ts'
import { ReelayError } from '../errors.ts'
import { formatPath, parsePath, type JsonPath, type PathPattern, EVERY_ITEM } from '../json/path.ts'
import { isObject } from '../json/parse.ts'
import { type Turn, type TurnStore, messagesOfTurn, type RecordedMessage } from '../tape/turns.ts'

/** The user's changes to the bindings of a tape. */
export interface BindingsFile {
  /** Bindings to add. They replace bindings that were found for the same locations. */
  readonly bind: readonly UserBinding[]
  /** Locations in requests whose values are sent as recorded. */
  readonly forbid: readonly ForbiddenLocation[]
}

export interface UserBinding {
  readonly from: WrittenLocation | ClockProducer
  readonly to: readonly WrittenLocation[]
}

/** A path in one request, or in every request if no number is given. */
interface ForbiddenLocation {
  readonly message: WrittenMessage | undefined
  readonly path: PathPattern
}

/** Checks the parsed YAML or JSON of a bindings file. */
export function readBindingsFile(value: unknown): BindingsFile {
  if (!isObject(value)) throw invalidBindingsFile('the file must contain an object')
  for (const name of Object.keys(value))
    if (!['bind', 'forbid'].includes(name)) throw invalidBindingsFile(`unknown key ${JSON.stringify(name)}`)
  return {
    bind: readList(value['bind'], 'bind').map(readBinding),
    forbid: readList(value['forbid'], 'forbid').map(readForbidden),
  }
}

/** Converts bindings to the contents of a bindings file, for users who want to change some of them. */
export function toBindingsFile(bindings: readonly Binding[]): BindingsFileText {
  return {
    bind: bindings.map(({ producer, consumers, value, reason }) => ({
      from: formatProducer(producer),
      to: consumers.map(formatTapeLocation),
      note: `${value.length > 60 ? `${value.slice(0, 59)}…` : value}: ${reason}`,
    })),
    forbid: [],
  }
}

interface BindingsFileText {
  readonly bind: readonly { readonly from: string; readonly to: readonly string[]; readonly note: string }[]
  readonly forbid: readonly string[]
}

function readList(value: unknown, where: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw invalidBindingsFile(`"${where}" must be a list`)
  return value
}

function readBinding(value: unknown, index: number): UserBinding {
  const where = `bind[${index}]`
  if (!isObject(value)) throw invalidBindingsFile(`${where} must be an object with "from" and "to"`)
  const { from, to, note, ...rest } = value
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw invalidBindingsFile(`${where} has the unknown key ${JSON.stringify(unknown)}`)
  if (typeof from !== 'string') throw invalidBindingsFile(`${where}.from must be a string`)
  if (note !== undefined && typeof note !== 'string')
    throw invalidBindingsFile(`${where}.note must be a string`)
  const places = (typeof to === 'string' ? [to] : readList(to, `${where}.to`)).map((place) => {
    if (typeof place !== 'string') throw invalidBindingsFile(`${where}.to must contain only strings`)
    return parseLocation(place)
  })
  if (places.length === 0) throw invalidBindingsFile(`${where}.to must contain at least one location`)
  return { from: parseClockProducer(from) ?? parseLocation(from), to: places }
}

function readForbidden(value: unknown, index: number): ForbiddenLocation {
  if (typeof value !== 'string') throw invalidBindingsFile(`forbid[${index}] must be a string`)
  const { message, rest } = parseMessageNumber(value)
  const path = parsePath(rest)
  if (path[0] !== 'params' && path[0] !== 'result')
    throw invalidBindingsFile(
      `forbid[${index}] is ${formatPath(path)}, but must start with "params" or "result"`,
    )
  return { message, path }
}

function invalidBindingsFile(why: string): ReelayError {
  return new ReelayError('BINDINGS_INVALID', `cannot use the bindings: ${why}`, {
    hint: 'the file contains "bind", a list of { from, to }, and "forbid", a list of paths; see docs/reference/bindings-file.md',
  })
}

/** Applies the changes of a bindings file to the bindings that were found. */
export function applyBindingsFile(
  { bindings, guesses }: FoundBindings,
  file: BindingsFile,
  turns: TurnStore,
): FoundBindings {
  const added = file.bind.map((binding) => resolveBinding(binding, turns))
  const isFree = (consumer: BindingConsumer): boolean =>
    !file.forbid.some((place) => isForbiddenBy(place, consumer)) &&
    !added.some(({ consumers }) =>
      consumers.some((other) => formatTapeLocation(other) === formatTapeLocation(consumer)),
    )
  const without = (list: readonly Binding[]): readonly Binding[] =>
    list
      .map((binding) => ({ ...binding, consumers: binding.consumers.filter(isFree) }))
      .filter(({ consumers }) => consumers.length > 0)
  return { bindings: [...without(bindings), ...added], guesses: without(guesses) }
}

function isForbiddenBy({ message, path }: ForbiddenLocation, consumer: BindingConsumer): boolean {
  return isMessage(message, consumer) && patternCovers(path, consumer.path)
}

function isMessage(message: WrittenMessage | undefined, { exchange, frame }: BindingConsumer): boolean {
  if (message === undefined) return true
  return message.exchange === undefined ? message.frame === frame : message.exchange === exchange
}

function patternCovers(pattern: PathPattern, path: PathPattern): boolean {
  return (
    pattern.length <= path.length &&
    pattern.every(
      (segment, at) => segment === path[at] || (segment === EVERY_ITEM && typeof path[at] === 'number'),
    )
  )
}

function resolveBinding({ from, to }: UserBinding, turns: TurnStore): Binding {
  const consumers = to.map((place) => resolveConsumer(place, turns))
  const [first] = consumers
  const recorded = to[0] === undefined ? undefined : findMessage(to[0], turns)?.recorded
  const value = first === undefined || recorded === undefined ? undefined : readLocation(recorded.text, first)
  return {
    value: value ?? '',
    producer: 'kind' in from ? from : { kind: 'message', ...resolveLocation(from, turns) },
    also: [],
    consumers,
    confidence: 'certain',
    standing: 'user',
    reason: 'defined in the bindings file',
  }
}

function resolveConsumer(written: WrittenLocation, turns: TurnStore): BindingConsumer {
  const place = resolveLocation(written, turns)
  const last = place.inside.at(-1)?.kind
  const use = last === 'key' ? 'key' : last === 'span' || last === 'token' ? 'part' : 'value'
  return { ...place, use }
}

function resolveLocation(written: WrittenLocation, turns: TurnStore): TapeLocation {
  const { message, path, steps } = written
  const found = findMessage(written, turns)
  if (found === undefined) throw locationNotFound(`the tape has no ${messageName(message)}`)
  const { n: frame, item } = found.recorded
  const { exchange } = message
  const place = {
    frame,
    ...(item === undefined ? {} : { item }),
    ...(exchange === undefined ? {} : { exchange }),
    path,
  }
  const inside: LocationStep[] = []
  for (const step of steps)
    inside.push(resolveStep(step, readLocation(found.recorded.text, { path, inside })))
  if (readLocation(found.recorded.text, { path, inside }) === undefined)
    throw locationNotFound(`there is no string or number at ${formatTapeLocation({ ...place, inside })}`)
  return { turn: found.turn, ...place, inside }
}

function resolveStep(step: WrittenLocationStep, text: string | undefined): LocationStep {
  if (step.kind !== 'around') return step
  const start = text?.indexOf(step.before) ?? -1
  if (text === undefined || start < 0)
    throw locationNotFound(`${JSON.stringify(step.before)} is not in the text`)
  const from = start + step.before.length
  const ends = step.after === '' ? text.slice(from).search(/\s|$/) + from : text.indexOf(step.after, from)
  if (ends <= from) throw locationNotFound(`${JSON.stringify(step.after)} does not follow the value`)
  return { kind: 'token', token: describeToken(text, from, ends) }
}

function messageName({ exchange, frame }: WrittenMessage): string {
  return exchange === undefined ? `message in frame ${frame}` : `message #${exchange}`
}

interface FoundMessage {
  readonly turn: number
  readonly recorded: RecordedMessage
}

function findMessage({ message, path }: WrittenLocation, turns: TurnStore): FoundMessage | undefined {
  for (let index = 0; index < turns.size; index++) {
    if (message.exchange !== undefined && turns.exchangeOf(index) !== message.exchange) continue
    const turn = turns.at(index)
    const recorded = turn && messageInTurn(turn, message, path)
    if (recorded !== undefined) return { turn: index, recorded }
  }
  return undefined
}

/** Of an exchange, `params` are in the request, and everything else is in the response. */
function messageInTurn(turn: Turn, message: WrittenMessage, [root]: JsonPath): RecordedMessage | undefined {
  if (message.exchange !== undefined) return root === 'params' ? turn.trigger : turn.response
  return messagesOfTurn(turn).find((one) => one.n === message.frame && one.item === message.item)
}

function locationNotFound(why: string): ReelayError {
  return new ReelayError('BINDINGS_INVALID', `cannot use the bindings: ${why}`, {
    hint: '`reelay inspect` shows the numbers of the exchanges, and `reelay inspect --bindings` the locations; they may change if the session is recorded again',
  })
}
