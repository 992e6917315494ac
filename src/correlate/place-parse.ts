import { ReelayError } from '../errors.ts'
import type { Path } from '../wire/members.ts'
import { EVERY, parsePath } from '../wire/path.ts'
import type { Producer } from './binding.ts'

/** A place as a user wrote it: what stands in a text is named by its surroundings. */
export interface WrittenPlace {
  readonly frame: number
  readonly item?: number
  readonly path: Path
  readonly steps: readonly WrittenStep[]
}

export type WrittenStep =
  | { readonly kind: 'json'; readonly path: Path }
  | { readonly kind: 'base64' }
  | { readonly kind: 'around'; readonly before: string; readonly after: string }
  | { readonly kind: 'span'; readonly start: number; readonly end: number }
  | { readonly kind: 'key'; readonly index: number }

/** Reads `#12 result.content[0].text > json issue.id`. */
export function parsePlace(text: string): WrittenPlace {
  const [head = '', ...steps] = partsOf(text)
  const found = /^#(\d{1,15})(?:\/(\d{1,9}))? (.+)$/.exec(head)
  if (found === null) throw invalid(text, 'it does not start with a frame and a path')
  const [, frame, item, path = ''] = found
  return {
    frame: Number(frame),
    ...(item === undefined ? {} : { item: Number(item) }),
    path: singlePath(path, text),
    steps: steps.map((step) => parseStep(step, text)),
  }
}

/** Reads `now + 7 days`; undefined for what is no time at all. */
export function parseClock(text: string): Extract<Producer, { kind: 'clock' }> | undefined {
  const found = /^now ([+-]) (\d{1,9}) (day|second)s?$/.exec(text)
  if (found === null) return undefined
  const [, sign, amount, unit] = found
  const offset = Number(amount) * (sign === '-' ? -1 : 1)
  return { kind: 'clock', ...(unit === 'day' ? { unit, offset } : { unit: 'ms', offset: offset * 1000 }) }
}

/** Cuts at ` > `, but not within quotes. */
function partsOf(text: string): readonly string[] {
  return text.match(/(?:"(?:[^"\\]|\\.)*"|(?! > )[^])+/g)?.map((part) => part.replace(/^ > /, '')) ?? []
}

function parseStep(step: string, text: string): WrittenStep {
  const [word = '', ...rest] = step.split(' ')
  const value = rest.join(' ')
  const span = /^(\d{1,9})-(\d{1,9})$/.exec(value)
  if (word === 'json') return { kind: 'json', path: singlePath(value, text) }
  if (word === 'base64' && value === '') return { kind: 'base64' }
  if (word === 'text') return around(value, text)
  if (word === 'characters' && span !== null)
    return { kind: 'span', start: Number(span[1]), end: Number(span[2]) }
  if (word === 'key' && /^\d{1,9}$/.test(value)) return { kind: 'key', index: Number(value) }
  throw invalid(text, `${JSON.stringify(step)} is no step`)
}

function around(quoted: string, text: string): WrittenStep {
  const said = quotedText(quoted)
  const [before, after, more] = said?.split('{}') ?? []
  if (before === undefined || after === undefined || more !== undefined)
    throw invalid(text, 'a text step is a quoted text with {} in the place of the value')
  return { kind: 'around', before, after }
}

function quotedText(quoted: string): string | undefined {
  try {
    return quoted.startsWith('"') ? String(JSON.parse(quoted)) : undefined
  } catch {
    return undefined // the caller says what was expected
  }
}

function singlePath(path: string, text: string): Path {
  return parsePath(path).map((segment) => {
    if (segment === EVERY) throw invalid(text, '[*] names many places, and a binding needs one')
    return segment
  })
}

function invalid(text: string, why: string): ReelayError {
  return new ReelayError('BINDINGS_INVALID', `cannot read the place ${JSON.stringify(text)}: ${why}`, {
    hint: 'write it like "#12 result.structuredContent.id", "#12 result.content[0].text > json issue.id" or \'#12 result.content[0].text > text "issue {} was"\'; `reelay inspect --bindings` prints places in this form',
  })
}
