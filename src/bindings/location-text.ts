import type { BindingProducer, ClockProducer, LocationStep, TapeLocation, ValueLocation } from './binding.ts'
import { ReelayError } from '../errors.ts'
import type { JsonPath } from '../json/path.ts'
import { EVERY_ITEM, parsePath, formatPath } from '../json/path.ts'

/** A location as the user wrote it. A token of a text is identified by the text around it. */
export interface WrittenLocation {
  readonly message: WrittenMessage
  readonly path: JsonPath
  readonly steps: readonly WrittenLocationStep[]
}

/** The request or the response of an exchange, by its number, or any message by its frame. */
export type WrittenMessage =
  | { readonly exchange: number; readonly frame?: undefined }
  | { readonly frame: number; readonly item?: number; readonly exchange?: undefined }

export type WrittenLocationStep =
  | { readonly kind: 'json'; readonly path: JsonPath }
  | { readonly kind: 'base64' }
  | { readonly kind: 'around'; readonly before: string; readonly after: string }
  | { readonly kind: 'span'; readonly start: number; readonly end: number }
  | { readonly kind: 'key'; readonly index: number }

/** Parses a location such as `#12 result.content[0].text > json issue.id` or `frame 7 params.message`. */
export function parseLocation(text: string): WrittenLocation {
  const [head = '', ...steps] = splitLocation(text)
  const { message, rest } = parseMessageNumber(head)
  if (message === undefined) throw invalidLocation(text, 'expected the number of an exchange and a path')
  return {
    message,
    path: parseSinglePath(rest, text),
    steps: steps.map((step) => parseLocationStep(step, text)),
  }
}

/** Parses the number before a path: `#12`, `frame 7`, or `frame 7/0` for an item of a batch. */
export function parseMessageNumber(text: string): {
  readonly message: WrittenMessage | undefined
  readonly rest: string
} {
  const [, exchange, frame, item, rest = text] =
    /^(?:#(\d{1,15})|frame (\d{1,15})(?:\/(\d{1,9}))?) (.+)$/s.exec(text) ?? []
  if (exchange !== undefined) return { message: { exchange: Number(exchange) }, rest }
  if (frame === undefined) return { message: undefined, rest }
  return { message: { frame: Number(frame), ...(item !== undefined && { item: Number(item) }) }, rest }
}

/** Parses a clock producer such as `now + 7 days`. Returns `undefined` for any other text. */
export function parseClockProducer(text: string): ClockProducer | undefined {
  const found = /^now ([+-]) (\d{1,9}) (day|second)s?$/.exec(text)
  if (found === null) return undefined
  const [, sign, amount, unit] = found
  const offset = Number(amount) * (sign === '-' ? -1 : 1)
  return { kind: 'clock', ...(unit === 'day' ? { unit, offset } : { unit: 'ms', offset: offset * 1000 }) }
}

/** Splits at ` > `, but not within quotes. */
function splitLocation(text: string): readonly string[] {
  return text.match(/(?:"(?:[^"\\]|\\.)*"|(?! > )[^])+/g)?.map((part) => part.replace(/^> /, '')) ?? []
}

function parseLocationStep(step: string, text: string): WrittenLocationStep {
  const [word = '', ...rest] = step.split(' ')
  const value = rest.join(' ')
  const span = /^(\d{1,9})-(\d{1,9})$/.exec(value)
  if (word === 'json') return { kind: 'json', path: parseSinglePath(value, text) }
  if (word === 'base64' && value === '') return { kind: 'base64' }
  if (word === 'text') return parseTextStep(value, text)
  if (word === 'characters' && span !== null)
    return { kind: 'span', start: Number(span[1]), end: Number(span[2]) }
  if (word === 'key' && /^\d{1,9}$/.test(value)) return { kind: 'key', index: Number(value) }
  throw invalidLocation(text, `unknown step ${JSON.stringify(step)}`)
}

function parseTextStep(quoted: string, text: string): WrittenLocationStep {
  const [before, after, more] = parseQuoted(quoted)?.split('{}') ?? []
  if (before === undefined || after === undefined || more !== undefined)
    throw invalidLocation(text, 'a text step needs a quoted text with {} in place of the value')
  return { kind: 'around', before, after }
}

function parseQuoted(quoted: string): string | undefined {
  try {
    return quoted.startsWith('"') ? String(JSON.parse(quoted)) : undefined
  } catch {
    return undefined // The caller reports what was expected.
  }
}

function parseSinglePath(path: string, text: string): JsonPath {
  return parsePath(path).map((segment) => {
    if (segment === EVERY_ITEM)
      throw invalidLocation(text, '[*] stands for several locations, and a binding needs exactly one')
    return segment
  })
}

function invalidLocation(text: string, why: string): ReelayError {
  return new ReelayError('BINDINGS_INVALID', `invalid location ${JSON.stringify(text)}: ${why}`, {
    hint: 'write it like "#12 result.structuredContent.id", "#12 result.content[0].text > json issue.id" or \'#12 result.content[0].text > text "issue {} was"\'; `reelay inspect --bindings` prints locations in this form',
  })
}

/** Formats a location for a bindings file: `#12 result.content[0].text > json issue.id`. */
export function formatTapeLocation(location: Omit<TapeLocation, 'turn'>): string {
  return `${messageNumber(location)} ${formatValueLocation(location)}`
}

function messageNumber({ exchange, frame, item }: Omit<TapeLocation, 'turn'>): string {
  if (exchange !== undefined) return `#${exchange}`
  return item === undefined ? `frame ${frame}` : `frame ${frame}/${item}`
}

/** Formats a location inside a message: `result.content[0].text > json issue.id`. */
export function formatValueLocation({ path, inside }: ValueLocation): string {
  return [formatPath(path), ...inside.map(formatLocationStep)].join(' > ')
}

/** Formats a producer for a bindings file. */
export function formatProducer(producer: BindingProducer): string {
  if (producer.kind === 'message') return formatTapeLocation(producer)
  const { unit, offset } = producer
  const amount = unit === 'day' ? offset : Math.round(offset / 1000)
  return `now ${amount < 0 ? '-' : '+'} ${Math.abs(amount)} ${unit === 'day' ? 'days' : 'seconds'}`
}

function formatLocationStep(step: LocationStep): string {
  switch (step.kind) {
    case 'json':
      return `json ${formatPath(step.path)}`
    case 'base64':
      return 'base64'
    case 'token':
      return `text ${JSON.stringify(`${step.token.before.trimStart()}{}${step.token.after}`)}`
    case 'span':
      return `characters ${step.start}-${step.end}`
    case 'key':
      return `key ${step.index}`
  }
}
