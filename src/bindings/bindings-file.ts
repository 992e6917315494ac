import { ReelayError } from '../errors.ts'
import { isObject } from '../protocol/message.ts'
import { formatPath, parsePath, type PathPattern } from '../json/path.ts'
import type { Binding } from './binding.ts'
import { parseClockProducer, parseLocation, type WrittenLocation } from './location-text.ts'
import { formatTapeLocation, formatProducer } from '../correlate/place-text.ts'

/** What a user says about the bindings of a tape, in a file beside it. */
export interface BindingsFile {
  /** Bindings to add; one that names a place which is bound already replaces that binding. */
  readonly bind: readonly UserBinding[]
  /** Places of requests that are sent as they were recorded. */
  readonly forbid: readonly ForbiddenLocation[]
}

export interface UserBinding {
  readonly from: WrittenLocation | NonNullable<ReturnType<typeof parseClockProducer>>
  readonly to: readonly WrittenLocation[]
}

/** A path in requests; in one frame only when that is named. */
export interface ForbiddenLocation {
  readonly frame?: number
  readonly path: PathPattern
}

/** Reads what a YAML or JSON parser made of the file. */
export function readBindingsFile(value: unknown): BindingsFile {
  if (!isObject(value)) throw invalidBindingsFile('the file holds no object')
  for (const name of Object.keys(value))
    if (!['bind', 'forbid'].includes(name))
      throw invalidBindingsFile(`${JSON.stringify(name)} is not known here`)
  return {
    bind: readList(value['bind'], 'bind').map(readBinding),
    forbid: readList(value['forbid'], 'forbid').map(readForbidden),
  }
}

/** Found bindings as the file would say them: a start for whoever wants to change some. */
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

export interface BindingsFileText {
  readonly bind: readonly { readonly from: string; readonly to: readonly string[]; readonly note: string }[]
  readonly forbid: readonly string[]
}

function readList(value: unknown, where: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw invalidBindingsFile(`"${where}" is no list`)
  return value
}

function readBinding(value: unknown, index: number): UserBinding {
  const where = `bind[${index}]`
  if (!isObject(value)) throw invalidBindingsFile(`${where} is no object with "from" and "to"`)
  const { from, to, note, ...rest } = value
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined)
    throw invalidBindingsFile(`${where} has a member ${JSON.stringify(unknown)} that is not known`)
  if (typeof from !== 'string') throw invalidBindingsFile(`${where}.from is no text`)
  if (note !== undefined && typeof note !== 'string') throw invalidBindingsFile(`${where}.note is no text`)
  const places = (typeof to === 'string' ? [to] : readList(to, `${where}.to`)).map((place) => {
    if (typeof place !== 'string') throw invalidBindingsFile(`${where}.to holds something that is no text`)
    return parseLocation(place)
  })
  if (places.length === 0) throw invalidBindingsFile(`${where}.to names no place`)
  return { from: parseClockProducer(from) ?? parseLocation(from), to: places }
}

function readForbidden(value: unknown, index: number): ForbiddenLocation {
  if (typeof value !== 'string') throw invalidBindingsFile(`forbid[${index}] is no text`)
  const found = /^#(\d{1,15}) (.+)$/.exec(value)
  const path = parsePath(found?.[2] ?? value)
  if (path[0] !== 'params' && path[0] !== 'result')
    throw invalidBindingsFile(`forbid[${index}] is ${formatPath(path)}, which does not start at "params"`)
  return { ...(found === null ? {} : { frame: Number(found[1]) }), path }
}

function invalidBindingsFile(why: string): ReelayError {
  return new ReelayError('BINDINGS_INVALID', `cannot use the bindings: ${why}`, {
    hint: 'the file holds "bind", a list of { from, to }, and "forbid", a list of paths; see docs/bindings.md',
  })
}
