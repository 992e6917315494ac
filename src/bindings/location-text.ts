import type { BindingProducer, LocationStep, TapeLocation } from './binding.ts'
import { ReelayError } from '../errors.ts'
import type { JsonPath } from '../json/path.ts'
import { EVERY_ITEM, parsePath, formatPath } from '../json/path.ts'

/** A place as a user wrote it: what stands in a text is named by its surroundings. */
export interface WrittenLocation {
  readonly frame: number
  readonly item?: number
  readonly path: JsonPath
  readonly steps: readonly WrittenLocationStep[]
}

export type WrittenLocationStep =
  | { readonly kind: 'json'; readonly path: JsonPath }
  | { readonly kind: 'base64' }
  | { readonly kind: 'around'; readonly before: string; readonly after: string }
  | { readonly kind: 'span'; readonly start: number; readonly end: number }
  | { readonly kind: 'key'; readonly index: number }

/** Reads `#12 result.content[0].text > json issue.id`. */
export function parseLocation(text: string): WrittenLocation {
  const [head = '', ...steps] = splitLocation(text)
  const found = /^#(\d{1,15})(?:\/(\d{1,9}))? (.+)$/.exec(head)
  if (found === null) throw invalidLocation(text, 'it does not start with a frame and a path')
  const [, frame, item, path = ''] = found
  return {
    frame: Number(frame),
    ...(item === undefined ? {} : { item: Number(item) }),
    path: parseSinglePath(path, text),
    steps: steps.map((step) => parseLocationStep(step, text)),
  }
}

/** Reads `now + 7 days`; undefined for what is no time at all. */
export function parseClockProducer(text: string): Extract<BindingProducer, { kind: 'clock' }> | undefined {
  const found = /^now ([+-]) (\d{1,9}) (day|second)s?$/.exec(text)
  if (found === null) return undefined
  const [, sign, amount, unit] = found
  const offset = Number(amount) * (sign === '-' ? -1 : 1)
  return { kind: 'clock', ...(unit === 'day' ? { unit, offset } : { unit: 'ms', offset: offset * 1000 }) }
}

/** Cuts at ` > `, but not within quotes. */
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
  throw invalidLocation(text, `${JSON.stringify(step)} is no step`)
}

function parseTextStep(quoted: string, text: string): WrittenLocationStep {
  const said = parseQuoted(quoted)
  const [before, after, more] = said?.split('{}') ?? []
  if (before === undefined || after === undefined || more !== undefined)
    throw invalidLocation(text, 'a text step is a quoted text with {} in the place of the value')
  return { kind: 'around', before, after }
}

function parseQuoted(quoted: string): string | undefined {
  try {
    return quoted.startsWith('"') ? String(JSON.parse(quoted)) : undefined
  } catch {
    return undefined // the caller says what was expected
  }
}

function parseSinglePath(path: string, text: string): JsonPath {
  return parsePath(path).map((segment) => {
    if (segment === EVERY_ITEM) throw invalidLocation(text, '[*] names many places, and a binding needs one')
    return segment
  })
}

function invalidLocation(text: string, why: string): ReelayError {
  return new ReelayError('BINDINGS_INVALID', `cannot read the place ${JSON.stringify(text)}: ${why}`, {
    hint: 'write it like "#12 result.structuredContent.id", "#12 result.content[0].text > json issue.id" or \'#12 result.content[0].text > text "issue {} was"\'; `reelay inspect --bindings` prints places in this form',
  })
}

/** A place as a bindings file writes it: `#12 result.content[0].text > json issue.id`. */
export function formatTapeLocation({ frame, item, path, inside }: Omit<TapeLocation, 'turn'>): string {
  const at = item === undefined ? `#${frame}` : `#${frame}/${item}`
  return [`${at} ${formatPath(path)}`, ...inside.map(formatLocationStep)].join(' > ')
}

/** Who made a value, as a bindings file writes it. */
export function formatProducer(producer: BindingProducer): string {
  if (producer.kind === 'message') return formatTapeLocation(producer)
  const { unit, offset } = producer
  const amount = unit === 'day' ? offset : Math.round(offset / 1000)
  return `now ${amount < 0 ? '-' : '+'} ${Math.abs(amount)} ${unit === 'day' ? 'days' : 'seconds'}`
}

function formatLocationStep(lens: LocationStep): string {
  switch (lens.kind) {
    case 'json':
      return `json ${formatPath(lens.path)}`
    case 'base64':
      return 'base64'
    case 'token':
      return `text ${JSON.stringify(`${lens.token.before.trimStart()}{}${lens.token.after}`)}`
    case 'span':
      return `characters ${lens.start}-${lens.end}`
    case 'key':
      return `key ${lens.index}`
  }
}
