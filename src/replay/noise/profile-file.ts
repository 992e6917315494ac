import { readSettingsFile } from '../../config/project-config.ts'
import type { Setting } from '../../config/setting.ts'
import { readClass } from '../../diff/noise/classes/index.ts'
import type { ValueClass } from '../../diff/noise/classes/value-class.ts'
import type { Difference } from '../../diff/difference.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { parseJson } from '../../json/parse.ts'
import { formatPath, parsePath, EVERY_ITEM } from '../../json/path.ts'
import { findNoiseFile, writeNoiseFile } from '../../store/companion-files.ts'
import type { ReplayedTape } from '../plan/server-part.ts'
import {
  callNameOf,
  TapeRequests,
  type NoiseProfile,
  type ExchangeProfile,
  type ProfilePlace,
} from './noise-profile.ts'

/** A noise profile and its file. */
export interface StoredNoiseProfile {
  readonly path: string
  readonly profile: NoiseProfile
  /** Why the profile does not belong to the tape; it must not be applied then. */
  readonly stale?: string
}

/**
 * Reads the noise profile next to a tape, or the file at `path`. Returns `undefined` if there is none next to the tape. The file may come
 * from anybody: it is checked, and contains no patterns.
 */
export function readNoiseProfile(
  tape: ReplayedTape,
  { path }: { readonly path?: string | undefined } = {},
): StoredNoiseProfile | undefined {
  const file = path ?? findNoiseFile(tape.path)
  if (file === undefined) return undefined
  const setting = readSettingsFile(file, { hint: HINT, maxBytes: MAX_BYTES })
  const read = setting.members(['reelayNoise', 'tape', 'learned', 'runs', 'unlearned', 'calls', 'exchanges'])
  if (read.reelayNoise?.value !== 1)
    throw (read.reelayNoise ?? setting).invalid(
      'is not a noise profile that this version can read (reelayNoise: 1)',
    )
  if (read.tape === undefined) throw setting.invalid('has no "tape"')
  const runs = read.runs === undefined ? 0 : read.runs.number()
  const found: FoundEntries = { requests: new TapeRequests(tape), byNumber: new Map(), stale: undefined }
  const isOfTape = read.tape.text() === tape.header.id
  for (const one of read.calls?.items() ?? []) readEntry(one, found, isOfTape)
  for (const one of read.exchanges?.items() ?? []) readEntry(one, found, isOfTape)
  const profile = {
    tape: read.tape.text(),
    learned: read.learned?.text(),
    runs,
    unlearned: new Set(read.unlearned?.items().map((one) => one.count()) ?? []),
    exchanges: [...found.byNumber.values()],
  }
  const stale = isOfTape ? found.stale : 'the tape was recorded again'
  return { path: file, profile, ...(stale !== undefined && { stale }) }
}

const HINT =
  'correct that place, or make the profile again with reelay learn; docs/reference/noise.md describes the file'

/** A profile of a large tape has a few hundred kilobytes. */
const MAX_BYTES = 16 * 1024 * 1024

interface FoundEntries {
  readonly requests: TapeRequests
  readonly byNumber: Map<number, ExchangeProfile>
  stale: string | undefined
}

/** An entry is about one exchange, or about every call of a tool. */
function readEntry(setting: Setting, found: FoundEntries, isOfTape: boolean): void {
  const read = setting.members(['exchange', 'exchanges', 'call', 'arguments', 'noise'])
  const one = read.exchange === undefined ? [] : [read.exchange]
  const numbers = (read.exchanges?.items() ?? one).map((number) => number.count())
  if (numbers.length === 0) throw setting.invalid('names no exchange')
  const call = read.call === undefined ? '' : read.call.text()
  const places = (read.noise?.items() ?? []).map(readPlace)
  for (const exchange of numbers) {
    const request = found.requests.at(exchange)
    if (request === undefined || (call !== '' && callNameOf(request) !== call)) {
      found.stale ??= `#${exchange} of the tape is not ${call === '' ? 'an exchange' : call}`
      if (isOfTape) continue
    }
    const [method = '', tool] = call.split(' ', 2)
    const entry = request ?? { exchange, method, tool, arguments: '' }
    const known = found.byNumber.get(exchange)?.places ?? []
    found.byNumber.set(exchange, { ...entry, places: [...known, ...places] })
  }
}

function readPlace(setting: Setting): ProfilePlace {
  const read = setting.members(['path', 'varies', 'class', 'length', 'seen', 'samples', 'by', 'note'])
  if (read.path === undefined) throw setting.invalid('has no "path"')
  if (read.varies === undefined) throw setting.invalid('has no "varies"')
  const { varies, class: written, by } = read
  const words = typeof varies.value === 'string' ? [varies] : varies.items()
  const kinds = words.flatMap((word) => {
    const [name] = word.choice(VARIATIONS.map(([one]) => one))
    return VARIATIONS.find(([one]) => one === name)?.[1] ?? []
  })
  if (by !== undefined && by.value !== 'hand') throw by.invalid('is not "hand"')
  const seen = read.seen?.members(['values', 'runs'])
  return {
    path: read.path.as((one) => parsePath(one.text())),
    kinds: new Set(kinds),
    classes: written === undefined ? [] : readClasses(written),
    ...(read.length !== undefined && { length: read.length.count() }),
    by: by === undefined ? 'learned' : 'hand',
    values: seen?.values?.number() ?? 0,
    runs: seen?.runs?.number() ?? 0,
    samples: read.samples?.items().map(({ value }) => String(value)) ?? [],
    ...(read.note !== undefined && { note: read.note.text() }),
  }
}

function readClasses(written: Setting): readonly ValueClass[] {
  const list = Array.isArray(written.value) ? written.items() : [written]
  return list.map((one) => readClass(one.value, (path, why) => one.invalidAt(path, why)))
}

/** What may vary at a place, in the words of the file. Items of a list that come and go are one place, `list[*]`. */
const VARIATIONS = [
  ['value', ['changed']],
  ['presence', ['added', 'removed']],
  ['items', ['added', 'removed']],
  ['type', ['type']],
  ['order', ['order']],
  ['format', ['format']],
  ['names', ['renamed']],
] as const satisfies readonly (readonly [string, readonly Difference['kind'][]])[]

/** What varies at a place, in the words of the file. */
export function variationsOf({ path, kinds }: Pick<ProfilePlace, 'path' | 'kinds'>): readonly string[] {
  const isItem = path.at(-1) === EVERY_ITEM
  return VARIATIONS.flatMap(([word, own]) => {
    if (word === (isItem ? 'presence' : 'items')) return []
    return own.some((kind) => kinds.has(kind)) ? [word] : []
  })
}

/** Writes a profile next to the tape, or to `path`, and returns the path. `redact` hides secrets in JSON text. */
export async function writeNoiseProfile(
  tape: ReplayedTape,
  profile: NoiseProfile,
  {
    path,
    redact = String,
  }: { readonly path?: string | undefined; readonly redact?: (json: string) => string } = {},
): Promise<string> {
  return writeNoiseFile(tape.path, {
    path,
    value: parseJson(redact(JSON.stringify(profileContent(tape, profile)))),
  })
}

/** The content of the file. What all calls of a tool have in common is listed once for the tool. */
export function profileContent(tape: ReplayedTape, profile: NoiseProfile): object {
  const { calls, exchanges } = generalize(profile, new TapeRequests(tape))
  const { learned, runs, unlearned } = profile
  return {
    reelayNoise: 1,
    tape: profile.tape,
    ...(learned !== undefined && { learned }),
    runs,
    ...(unlearned.size > 0 && { unlearned: [...unlearned].toSorted((one, other) => one - other) }),
    ...(calls.length > 0 && { calls: calls.map(callContent) }),
    exchanges: exchanges.map(exchangeContent),
  }
}

/** The noise that all calls of a tool or method have. */
export interface CallNoise {
  readonly call: string
  readonly numbers: readonly number[]
  readonly places: readonly ProfilePlace[]
}

/** Separates the noise that all calls of a tool have, if there are several calls and all of them were learned. */
export function generalize(
  { exchanges, unlearned }: NoiseProfile,
  requests: TapeRequests,
): { readonly calls: readonly CallNoise[]; readonly exchanges: readonly ExchangeProfile[] } {
  const groups = new Map<string, ExchangeProfile[]>()
  for (const entry of exchanges)
    groups.set(callNameOf(entry), [...(groups.get(callNameOf(entry)) ?? []), entry])
  const counts = new Map<string, number>()
  for (const request of requests.calls())
    counts.set(callNameOf(request), (counts.get(callNameOf(request)) ?? 0) + 1)
  const common = new Set<ProfilePlace>()
  const calls = [...groups].flatMap(([call, [first, ...others]]): readonly CallNoise[] => {
    const all = first === undefined ? [] : [first, ...others]
    const isAll = all.length > 1 && all.length === counts.get(call)
    if (first === undefined || !isAll || all.some(({ exchange }) => unlearned.has(exchange))) return []
    const places = first.places.flatMap((place) => {
      const same = others.map((entry) => entry.places.find((one) => isSamePlace(one, place)))
      const merged = same.reduce<ProfilePlace | undefined>(mergePlaces, place)
      if (merged === undefined) return []
      for (const one of [place, ...same]) if (one !== undefined) common.add(one)
      return [merged]
    })
    return places.length === 0 ? [] : [{ call, numbers: all.map(({ exchange }) => exchange), places }]
  })
  const rest = exchanges.map((entry) => ({
    ...entry,
    places: entry.places.filter((one) => !common.has(one)),
  }))
  return { calls, exchanges: rest.filter(({ places }) => places.length > 0) }
}

function isSamePlace(one: ProfilePlace, other: ProfilePlace): boolean {
  return (
    one.by === other.by &&
    formatPath(one.path) === formatPath(other.path) &&
    variationsOf(one).join() === variationsOf(other).join()
  )
}

/** Returns `undefined` if the classes do not agree. */
function mergePlaces(
  one: ProfilePlace | undefined,
  other: ProfilePlace | undefined,
): ProfilePlace | undefined {
  if (one === undefined || other === undefined || one.classes.length !== other.classes.length)
    return undefined
  const classes = one.classes.map((own, at) => mergeClasses(own, other.classes[at]))
  if (!classes.every((merged) => merged !== undefined)) return undefined
  const { length, ...rest } = one
  const isSameLength = length !== undefined && length === other.length
  return { ...rest, ...(isSameLength && { length }), classes, values: Math.max(one.values, other.values) }
}

/** Classes agree if they differ at most in their range. */
function mergeClasses(one: ValueClass, other: ValueClass | undefined): ValueClass | undefined {
  if (other === undefined) return undefined
  const [ours, theirs] = [one.written, other.written]
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)])
  const merged: Record<string, unknown> = {}
  for (const name of names) {
    const [a, b] = [ours[name], theirs[name]]
    if (canonicalJson(a) === canonicalJson(b)) merged[name] = a
    else if (RANGE_ENDS.has(name)) merged[name] = furtherEnd(name, a, b)
    else return undefined
  }
  return readClass(merged, (path, why) => new TypeError(`${path.join('.')} ${why}`))
}

const LOWER_ENDS: ReadonlySet<string> = new Set(['from', 'shortest'])
const RANGE_ENDS: ReadonlySet<string> = new Set([...LOWER_ENDS, 'to', 'longest'])

/** The ends of a range are numbers, or times that can be compared as texts. */
function furtherEnd(name: string, one: unknown, other: unknown): unknown {
  const [lower, upper] = [one, other].toSorted(
    (a, b) => Number(a) - Number(b) || String(a).localeCompare(String(b)),
  )
  return LOWER_ENDS.has(name) ? lower : upper
}

function callContent({ call, numbers, places }: CallNoise): object {
  return { call, exchanges: numbers, noise: places.map(placeContent) }
}

function exchangeContent({ exchange, arguments: given, places, ...call }: ExchangeProfile): object {
  return {
    exchange,
    call: callNameOf(call),
    ...(given !== '' && { arguments: given }),
    noise: places.map(placeContent),
  }
}

function placeContent(place: ProfilePlace): object {
  const varies = variationsOf(place)
  const classes = place.classes.map(({ written }) => written)
  return {
    path: formatPath(place.path),
    varies: varies.length === 1 ? varies[0] : varies,
    ...(classes.length > 0 && { class: classes.length === 1 ? classes[0] : classes }),
    ...(place.length !== undefined && { length: place.length }),
    ...(place.runs > 0 && { seen: { values: place.values, runs: place.runs } }),
    ...(place.samples.length > 0 && { samples: place.samples }),
    ...(place.by === 'hand' && { by: 'hand' }),
    ...(place.note !== undefined && { note: place.note }),
  }
}
