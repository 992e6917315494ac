import type { Difference } from '../../diff/difference.ts'
import type { SessionTimes } from '../../diff/noise/noise-kind.ts'
import { NoisePlaces, type NoisePlace } from '../../diff/noise/noise-places.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { formatPath } from '../../json/path.ts'
import { member } from '../../json/parse.ts'
import { calledTool } from '../../protocol/message.ts'
import { turnStoreOf, type Turn, type TurnStore } from '../../tape/turns.ts'
import { truncateText } from '../../text.ts'
import type { ReplayedTape } from '../plan/server-part.ts'
import type { ReplayStep } from '../steps/step.ts'

/** What varies in the responses of a known-good server to the requests of one tape. */
export interface NoiseProfile {
  /** The id of the tape. */
  readonly tape: string
  /** When and from how many runs it was learned; no runs if people accepted all of it. */
  readonly learned: string | undefined
  readonly runs: number
  /** The numbers of exchanges about which nothing is known, for example because they were held back. */
  readonly unlearned: ReadonlySet<number>
  /** The exchanges with noise. */
  readonly exchanges: readonly ExchangeProfile[]
}

/** The noise in the responses to one request. */
export interface ExchangeProfile extends ProfiledRequest {
  readonly places: readonly ProfilePlace[]
}

/** A request on the tape. */
export interface ProfiledRequest {
  /** The number of the exchange on the tape, as in reports. */
  readonly exchange: number
  readonly method: string
  readonly tool: string | undefined
  /** The arguments in short, for people. */
  readonly arguments: string
}

/** A place that varies, and how that is known. */
export interface ProfilePlace extends NoisePlace {
  /** `hand`: a person accepted it. */
  readonly by: 'learned' | 'hand'
  /** How many different values were seen, in how many runs. */
  readonly values: number
  readonly runs: number
  /** A few of the values, shortened, for people. */
  readonly samples: readonly string[]
  readonly note?: string
}

/** Returns a profile without any noise. */
export function emptyProfile(tape: Pick<ReplayedTape, 'header'>): NoiseProfile {
  return { tape: tape.header.id, learned: undefined, runs: 0, unlearned: new Set(), exchanges: [] }
}

/** Applies a profile to the steps of a run. */
export class ProfileNoise {
  readonly #profile: NoiseProfile
  readonly #exchanges: ReadonlyMap<number, { readonly entry: ExchangeProfile; readonly noise: NoisePlaces }>

  constructor(profile: NoiseProfile) {
    this.#profile = profile
    this.#exchanges = new Map(
      profile.exchanges.map((entry) => [entry.exchange, { entry, noise: new NoisePlaces(entry.places) }]),
    )
  }

  /** Returns true if it is known for the whole response to a request what varies in it. */
  covers({ exchange }: NumberedStep): boolean {
    return exchange !== undefined && this.#profile.runs > 0 && !this.#profile.unlearned.has(exchange)
  }

  /** Returns true if the notifications of a request, or those of its connection, vary in the known-good server. */
  hasNotificationNoise({ exchange = 0 }: NumberedStep, { path }: Pick<Difference, 'path'>): boolean {
    const isOfConnection = path[0] === 'connection'
    const places = this.#exchanges.get(exchange)?.entry.places ?? []
    return places.some((place) =>
      isOfConnection
        ? place.path[0] === 'connection'
        : place.path[0] === 'notifications' || place.path[0] === 'lastProgress',
    )
  }

  /** Returns true if the known-good server makes a new random value there in every run. */
  isAlwaysNew(step: NumberedStep, difference: Difference): boolean {
    const place = this.placeOf(step, difference)
    return place !== undefined && hasNewValues(place)
  }

  /** Returns the place whose noise explains a difference. */
  placeOf(
    { exchange = 0 }: NumberedStep,
    difference: Difference,
    clock?: SessionTimes,
  ): NoisePlace | undefined {
    return this.#exchanges.get(exchange)?.noise.placeOf(difference, { ...(clock && { clock }) })
  }

  /** Returns a step that was just done without the findings that are noise. */
  without(step: ReplayStep): ReplayStep {
    if (step.findings.length === 0) return step
    const now = Date.now()
    const clock = {
      recorded: { from: 0, to: 0 },
      live: () => ({ from: now - (step.duration ?? 0), to: now }),
    }
    const findings = step.findings.filter(
      ({ difference, isNeverNoise }) =>
        difference === undefined || isNeverNoise || this.placeOf(step, difference, clock) === undefined,
    )
    return { ...step, findings }
  }

  /** What the values at a path have in common, in words; `undefined` if nothing varies there. */
  expectationAt({ exchange = 0 }: NumberedStep, path: string): string | undefined {
    const places = this.#exchanges.get(exchange)?.entry.places ?? []
    const place = places.find((one) => formatPath(one.path) === path && one.classes.length > 0)
    return place?.classes.map(({ text }) => text).join(' or ')
  }
}

/** Random values that are too long to come twice by chance. */
function hasNewValues(place: NoisePlace & Partial<Pick<ProfilePlace, 'values' | 'runs' | 'by'>>): boolean {
  const { kinds, classes, values = 0, runs = 0, by } = place
  if (by !== 'learned' || runs < FEWEST_RUNS || values < runs || !kinds.has('changed')) return false
  return classes.every(
    ({ written }) => written.is === 'uuid' || (written.is === 'id' && Number(written['shortest']) >= LONG_ID),
  )
}

const FEWEST_RUNS = 3
const LONG_ID = 12

type NumberedStep = Pick<ReplayStep, 'exchange'>

/** The requests of a tape by the numbers of their exchanges. A request is read only when it is asked for, because a tape may be large. */
export class TapeRequests {
  readonly #turns: TurnStore
  /** The index of the turn of each exchange. */
  readonly #turnOf: Uint32Array
  #count = 0

  constructor(tape: Pick<ReplayedTape, 'turns'>) {
    this.#turns = turnStoreOf(tape.turns)
    this.#turnOf = new Uint32Array(this.#turns.size + 1)
    for (let index = 0; index < this.#turns.size; index++) {
      const exchange = this.#turns.exchangeOf(index)
      if (exchange === undefined || exchange >= this.#turnOf.length) continue
      this.#turnOf[exchange] = index + 1
      this.#count++
    }
  }

  get size(): number {
    return this.#count
  }

  at(exchange: number): ProfiledRequest | undefined {
    const place = this.#turnOf[exchange] ?? 0
    const turn = place === 0 ? undefined : this.#turns.at(place - 1)
    return turn && requestOf(turn)
  }

  /** The number, method and tool of every request. */
  *calls(): Generator<Pick<ProfiledRequest, 'exchange' | 'method' | 'tool'>> {
    for (const [exchange, place] of this.#turnOf.entries()) {
      if (place === 0) continue
      const { method, name } = this.#turns.summary(place - 1)
      yield { exchange, method, tool: method === 'tools/call' ? name : undefined }
    }
  }
}

function requestOf({ trigger, exchange }: Turn): ProfiledRequest | undefined {
  if (trigger?.message.kind !== 'request' || exchange === undefined) return undefined
  const { method, params } = trigger.message
  const tool = calledTool(trigger.message)
  const shown = method === 'tools/call' ? member(params, 'arguments') : withoutMeta(params)
  return {
    exchange,
    method,
    tool,
    arguments: shown === undefined ? '' : truncateText(canonicalJson(shown), LONGEST_ARGUMENTS),
  }
}

const LONGEST_ARGUMENTS = 120

function withoutMeta(params: unknown): unknown {
  if (params === undefined || params === null || typeof params !== 'object') return undefined
  const entries = Object.entries(params).filter(([name]) => name !== '_meta')
  return entries.length === 0 ? undefined : Object.fromEntries(entries)
}

/** The method of a request, with the tool that it calls. */
export function callNameOf({ method, tool }: Pick<ProfiledRequest, 'method' | 'tool'>): string {
  return tool === undefined ? method : `${method} ${tool}`
}
