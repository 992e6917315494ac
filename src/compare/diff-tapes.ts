import { jsonTypeOf, type Difference } from '../diff/difference.ts'
import type { SessionTimes } from '../diff/noise/noise-kind.ts'
import { isObject, member, parseJson } from '../json/parse.ts'
import type { JsonPath } from '../json/path.ts'
import { isListMethod, isUncountedMethod } from '../match/request-key.ts'
import { calledTool, namesToolOrPrompt } from '../protocol/message.ts'
import { ProfileNoise } from '../replay/noise/noise-profile.ts'
import { readNoiseProfile } from '../replay/noise/profile-file.ts'
import { hasSameBytes } from '../store/file/read.ts'
import { openIndexedTape, type IndexedTape } from '../store/index/indexed-tape.ts'
import { clientCallOf, turnStoreOf, type Turn, type TurnStore } from '../tape/turns.ts'
import { CarriedRenames } from './carried-renames.ts'
import {
  callText,
  compareExchanges,
  haveSameOutcome,
  isSameExchange,
  requestDifferences,
  responseDifferences,
  type ComparisonContext,
  type FoldedCounts,
} from './exchange-changes.ts'
import { compareLatency, type LatencyChange, type LatencyLimits } from './latency.ts'
import { ExchangePairing, type NameMap } from './pair-exchanges.ts'
import { finding, isFailure, type Finding } from './rules.ts'
import { recordedTools, type ToolRecords } from './recorded-tools.ts'
import { compareSurfaces, type RecordedTools } from './surface-changes.ts'
import { resultOfTurn, surfacesOf, type ServerSurface } from './surface.ts'

export interface TapeDiffOptions {
  /** Compares the times of calls too. */
  readonly latency?: LatencyLimits
  /** The noise profile to use, by its path. `false` uses none. Default: the one next to the earlier tape. */
  readonly noise?: string | false
}

/** What changed between two tapes of the same session. */
export interface TapeDiff {
  readonly before: ComparedTape
  readonly after: ComparedTape
  /** The files have the same bytes. Then nothing was counted. */
  readonly isIdentical: boolean
  readonly summary: TapeDiffSummary
  /** What changed in the lists, descriptions and schemas of the servers. */
  readonly surface: readonly Finding[]
  /** The exchanges that differ, in the order of the earlier tape, then those that were added. */
  readonly exchanges: readonly ExchangeChange[]
  /** Exchanges that differ and are only counted, because there are so many. */
  readonly unlisted: number
  readonly latency?: readonly LatencyChange[]
  readonly notes: readonly string[]
}

export interface ComparedTape {
  readonly path: string
  readonly exchanges: number
}

export interface TapeDiffSummary {
  readonly unchanged: number
  readonly modified: number
  readonly added: number
  readonly removed: number
  /** Findings that can break a client, or that are about security. */
  readonly breaking: number
  /** Those of them that are about security. */
  readonly security: number
  /** Differences that were not reported, by the reason. */
  readonly folded: FoldedCounts
}

export interface ExchangeChange {
  readonly kind: 'modified' | 'added' | 'removed'
  readonly call: string
  /** The numbers of the exchange on each tape. */
  readonly before?: number
  readonly after?: number
  readonly findings: readonly Finding[]
}

/** Compares two tapes. Tapes of any size are compared with little memory: large ones are read exchange by exchange. */
export async function diffTapes(
  before: string,
  after: string,
  options: TapeDiffOptions = {},
): Promise<TapeDiff> {
  if (hasSameBytes(before, after)) return identicalDiff(before, after)
  const one = await openIndexedTape(before)
  try {
    const other = await openIndexedTape(after)
    try {
      return new TapeComparison(one, other, options).run()
    } finally {
      other.close()
    }
  } finally {
    one.close()
  }
}

function identicalDiff(before: string, after: string): TapeDiff {
  return {
    before: { path: before, exchanges: 0 },
    after: { path: after, exchanges: 0 },
    isIdentical: true,
    summary: {
      unchanged: 0,
      modified: 0,
      added: 0,
      removed: 0,
      breaking: 0,
      security: 0,
      folded: noneFolded(),
    },
    surface: [],
    exchanges: [],
    unlisted: 0,
    notes: [],
  }
}

/** Details are kept for so many exchanges; the others are counted. */
const MOST_LISTED = 10_000
const MOST_FINDINGS = 50

class TapeComparison {
  readonly #before: IndexedTape
  readonly #after: IndexedTape
  readonly #options: TapeDiffOptions
  readonly #turns: TurnStore
  readonly #otherTurns: TurnStore
  readonly #renames = new CarriedRenames()
  readonly #exchanges: ExchangeChange[] = []
  readonly #folded = noneFolded()
  readonly #notes: string[] = []
  #counts = { unchanged: 0, modified: 0, added: 0, removed: 0, breaking: 0, security: 0, unlisted: 0 }

  constructor(before: IndexedTape, after: IndexedTape, options: TapeDiffOptions) {
    this.#before = before
    this.#after = after
    this.#options = options
    this.#turns = turnStoreOf(before.turns)
    this.#otherTurns = turnStoreOf(after.turns)
  }

  run(): TapeDiff {
    const surfaces = this.#surfaces()
    const pairing = new ExchangePairing(this.#turns, this.#otherTurns, surfaces.names)
    const isSame = this.#pairAll(pairing)
    this.#compareAll(pairing, isSame, surfaces.before)
    this.#count(surfaces.findings)
    const { unlisted, ...counts } = this.#counts
    const { latency } = this.#options
    const [exchanges, others] = [this.#turns, this.#otherTurns].map(exchangeCount)
    return {
      before: { path: this.#before.path, exchanges: exchanges ?? 0 },
      after: { path: this.#after.path, exchanges: others ?? 0 },
      isIdentical: false,
      summary: { ...counts, folded: this.#folded },
      surface: surfaces.findings,
      exchanges: this.#exchanges,
      unlisted,
      ...(latency && {
        latency: compareLatency(this.#turns, this.#otherTurns, pairing.afterOf, latency),
      }),
      notes: this.#notes,
    }
  }

  #surfaces(): { names: NameMap; findings: readonly Finding[]; before: ReadonlyMap<string, ServerSurface> } {
    const [then, now] = [surfacesOf(this.#turns), surfacesOf(this.#otherTurns)]
    const servers = matchServers([...then.keys()], [...now.keys()])
    const tools = new Map<string, string>()
    const findings: Finding[] = []
    for (const [to, from] of servers) {
      const [one, other] = [then.get(from), now.get(to)]
      if (one === undefined || other === undefined) continue
      const { findings: found, renamedTools } = compareSurfaces(one, other, this.#records(from))
      findings.push(...(servers.size > 1 ? found.map((each) => withServer(each, from)) : found))
      for (const [name, earlier] of renamedTools) tools.set(name, earlier)
    }
    const names = {
      server: (name: string) => servers.get(name) ?? name,
      tool: (name: string) => tools.get(name) ?? name,
    }
    return { names, findings, before: then }
  }

  /** The recorded calls of a server are collected only if a schema has changed. */
  #records(server: string): RecordedTools {
    let records: ReadonlyMap<string, ToolRecords> | undefined
    const of = (tool: string): ToolRecords | undefined => {
      records ??= recordedTools(this.#turns, server)
      return records.get(tool)
    }
    return { calls: (tool) => of(tool)?.arguments ?? [], results: (tool) => of(tool)?.results ?? [] }
  }

  /** Pairs all exchanges. Returns a table of the pairs that are the same. */
  #pairAll(pairing: ExchangePairing): Uint8Array {
    pairing.pairEqual((before, after) => {
      const [one, other] = [this.#turns.at(before), this.#otherTurns.at(after)]
      return one !== undefined && other !== undefined && haveSameOutcome(one, other)
    })
    const isSame = new Uint8Array(this.#turns.size)
    const learn = (index: number): void => {
      const [one, other] = this.#pairAt(pairing, index)
      if (one === undefined || other === undefined) return
      if (isSameExchange(one, other)) isSame[index] = 1
      else {
        this.#renames.learnResponse(responseDifferences(one, other))
        this.#renames.learnRequest(requestDifferences(one, other))
      }
    }
    for (const [index, after] of pairing.afterOf.entries()) if (after >= 0) learn(index)
    for (let round = 0; round < MOST_ROUNDS && this.#renames.size > 0; round++) {
      const paired = pairing.pairRenamed(this.#renames.renamed)
      if (paired.length === 0) break
      paired.forEach(learn)
    }
    pairing.pairSimilar().forEach(learn)
    return isSame
  }

  #pairAt(pairing: ExchangePairing, index: number): readonly [Turn | undefined, Turn | undefined] {
    const after = pairing.afterOf[index] ?? -1
    return [this.#turns.at(index), after < 0 ? undefined : this.#otherTurns.at(after)]
  }

  #compareAll(
    pairing: ExchangePairing,
    isSame: Uint8Array,
    surfaces: ReadonlyMap<string, ServerSurface>,
  ): void {
    const context: ComparisonContext = {
      renames: this.#renames,
      clock: this.#clock(),
      isProfiled: this.#profile(),
      isOptional: new OptionalMembers(this.#turns, surfaces).isOptional,
      isAsFrequent: sameFrequency(this.#turns, this.#otherTurns),
    }
    for (const [index, after] of pairing.afterOf.entries()) {
      if (after < 0) continue
      if (isSame[index] === 1) this.#counts.unchanged++
      else this.#comparePair(pairing, index, context)
    }
    for (const index of pairing.removed()) this.#single('removed', this.#turns.at(index))
    this.#exchanges.sort((one, other) => (one.before ?? Infinity) - (other.before ?? Infinity))
    for (const index of pairing.added()) this.#single('added', this.#otherTurns.at(index))
  }

  #comparePair(pairing: ExchangePairing, index: number, context: ComparisonContext): void {
    const [one, other] = this.#pairAt(pairing, index)
    if (one === undefined || other === undefined) return
    const { findings: all, folded } = compareExchanges(one, other, context)
    // That the tool has another name is told once, with the other changes of the tool.
    const findings = toolOf(one) === toolOf(other) ? all : all.filter((found) => !isNewName(found))
    for (const reason of FOLDED_REASONS) this.#folded[reason] += folded[reason]
    if (findings.length === 0) return void this.#counts.unchanged++
    this.#counts.modified++
    this.#list({
      kind: 'modified',
      call: callText(one),
      ...(one.exchange !== undefined && { before: one.exchange }),
      ...(other.exchange !== undefined && { after: other.exchange }),
      findings,
    })
  }

  #single(kind: 'added' | 'removed', turn: Turn | undefined): void {
    const call = clientCallOf(turn?.trigger)
    if (turn === undefined || call === undefined) return
    const subject = callText(turn)
    const isRepeatable = isUncountedMethod(call.method) || this.#isListedStill(call.method)
    const removed = isRepeatable ? 'poll-removed' : 'call-removed'
    this.#counts[kind]++
    this.#list({
      kind,
      call: subject,
      ...(turn.exchange !== undefined &&
        (kind === 'added' ? { after: turn.exchange } : { before: turn.exchange })),
      findings: [finding(kind === 'added' ? 'call-added' : removed, { subject })],
    })
  }

  /** The items of a list are compared together, on however many pages and however often it was asked for. */
  #isListedStill(method: string): boolean {
    return isListMethod(method) && this.#otherTurns.kinds().some((kind) => kind.method === method)
  }

  #list(change: ExchangeChange): void {
    this.#count(change.findings)
    if (this.#exchanges.length >= MOST_LISTED) this.#counts.unlisted++
    else this.#exchanges.push({ ...change, findings: change.findings.slice(0, MOST_FINDINGS) })
  }

  #count(findings: readonly Finding[]): void {
    this.#counts.breaking += findings.filter(({ level }) => isFailure(level)).length
    this.#counts.security += findings.filter(({ level }) => level === 'security').length
  }

  #clock(): SessionTimes {
    const recorded = timeSpan(this.#before, this.#turns)
    const live = timeSpan(this.#after, this.#otherTurns)
    const [then, now] = [this.#before.header.utcOffsets, this.#after.header.utcOffsets]
    const offsets = { recorded: then ?? [0], live: now ?? [0] }
    return { recorded, live: () => live, ...((then ?? now) && { offsets }) }
  }

  #profile(): ComparisonContext['isProfiled'] {
    const { noise } = this.#options
    if (noise === false) return () => false
    const stored = readNoiseProfile(this.#before, { path: noise })
    if (stored === undefined) return () => false
    if (stored.stale !== undefined) {
      this.#notes.push(`the noise profile ${stored.path} is not used, because ${stored.stale}`)
      return () => false
    }
    const profile = new ProfileNoise(stored.profile)
    const clock = this.#clock()
    return (exchange, difference) => profile.placeOf({ exchange }, difference, clock) !== undefined
  }
}

/** How often requests are paired by values that earlier pairs revealed. */
const MOST_ROUNDS = 12

const FOLDED_REASONS = ['carried', 'clock', 'profile', 'moved'] as const

function noneFolded(): FoldedCounts {
  return { carried: 0, clock: 0, profile: 0, moved: 0 }
}

function exchangeCount(turns: TurnStore): number {
  return turns.kinds().reduce((sum, { trigger, count }) => sum + (trigger === 'request' ? count : 0), 0)
}

function withServer(found: Finding, server: string): Finding {
  return { ...found, subject: `${server}: ${found.subject}` }
}

/** The servers of the later tape by name, with their names on the earlier one. A single server on each side is the same one. */
function matchServers(before: readonly string[], after: readonly string[]): ReadonlyMap<string, string> {
  const pairs = new Map(after.filter((name) => before.includes(name)).map((name) => [name, name]))
  const gone = before.filter((name) => !pairs.has(name))
  const added = after.filter((name) => !pairs.has(name))
  const [from, to] = [gone[0], added[0]]
  if (gone.length === 1 && added.length === 1 && from !== undefined && to !== undefined) pairs.set(to, from)
  return pairs
}

function timeSpan({ header }: IndexedTape, turns: TurnStore): { from: number; to: number } {
  const from = Date.parse(header.started)
  const last = turns.at(turns.size - 1)
  const ended = Math.max(last?.trigger?.t ?? 0, last?.response?.t ?? 0)
  return { from, to: from + ended }
}

/**
 * Knows which members of results may be absent, and which types a value may have: from the outputSchema of a tool, and from the other
 * results of the tool on the earlier tape.
 */
class OptionalMembers {
  readonly #turns: TurnStore
  readonly #surfaces: ReadonlyMap<string, ServerSurface>
  readonly #samples = new Map<string, readonly unknown[]>()

  constructor(turns: TurnStore, surfaces: ReadonlyMap<string, ServerSurface>) {
    this.#turns = turns
    this.#surfaces = surfaces
  }

  isOptional = (turn: Turn, { kind, path, actual }: Difference): boolean => {
    const tool = toolOf(turn)
    if (tool === undefined) return false
    const schema = this.#surfaces.get(turn.trigger?.server ?? '')?.tools?.get(tool)?.['outputSchema']
    if (kind === 'removed' && schema !== undefined && path[1] === 'structuredContent' && path.length > 2)
      return isOptionalBySchema(schema, path.slice(2))
    const parents = path.slice(1, -1)
    const last = path.at(-1)
    return this.#samplesOf(tool).some((result) =>
      valuesAlong(result, parents).some((parent) => {
        if (typeof last !== 'string' || !isObject(parent)) return false
        if (kind === 'removed') return !Object.hasOwn(parent, last)
        return Object.hasOwn(parent, last) && jsonTypeOf(parent[last]) === jsonTypeOf(actual)
      }),
    )
  }

  #samplesOf(tool: string): readonly unknown[] {
    const known = this.#samples.get(tool)
    if (known !== undefined) return known
    const samples: unknown[] = []
    for (let index = 0; index < this.#turns.size && samples.length < MOST_SAMPLES; index++) {
      const { name, method } = this.#turns.summary(index)
      if (name !== tool || !namesToolOrPrompt(method)) continue
      const turn = this.#turns.at(index)
      const result = turn && resultOfTurn(turn)
      if (result !== undefined && member(result, 'isError') !== true) samples.push(result)
    }
    this.#samples.set(tool, samples)
    return samples
  }
}

const MOST_SAMPLES = 200

function isNewName({ rule, path }: Finding): boolean {
  return rule === 'request-changed' && path === 'params.name'
}

/** Counts what the server sent besides responses when somebody first asks. */
function sameFrequency(before: TurnStore, after: TurnStore): (method: string) => boolean {
  let counts: readonly ReadonlyMap<string, number>[] | undefined
  return (method) => {
    counts ??= [before, after].map(serverMessages)
    const [then, now] = counts.map((each) => each.get(method) ?? 0)
    return then === now
  }
}

function serverMessages(turns: TurnStore): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (let index = 0; index < turns.size; index++) {
    const turn = turns.summary(index).hasSteps ? turns.at(index) : undefined
    for (const step of turn?.steps ?? []) {
      if (step.kind === 'respond') continue
      const { message } = step.kind === 'ask' ? step.request : step.message
      if ('method' in message) counts.set(message.method, (counts.get(message.method) ?? 0) + 1)
    }
  }
  return counts
}

function toolOf({ trigger }: Turn): string | undefined {
  const call = clientCallOf(trigger)
  return call && calledTool(call)
}

/** Returns true if a schema declares a member, and does not require it. */
function isOptionalBySchema(schema: unknown, path: JsonPath): boolean {
  let at = schema
  for (const [depth, segment] of path.entries()) {
    if (typeof segment === 'number') {
      at = member(at, 'items')
      continue
    }
    const properties = member(at, 'properties')
    const inside = member(properties, segment)
    if (inside === undefined) return false
    if (depth === path.length - 1) {
      const required = member(at, 'required')
      return !(Array.isArray(required) && required.includes(segment))
    }
    at = inside
  }
  return false
}

/** The values at a path, at every index of a list, also inside of texts that are JSON. */
function valuesAlong(value: unknown, path: JsonPath): readonly unknown[] {
  if (path.length === 0) return typeof value === 'string' ? [value, parseJson(value)] : [value]
  const [segment = '', ...rest] = path
  const inside = typeof value === 'string' ? parseJson(value) : value
  if (typeof segment === 'number')
    return Array.isArray(inside)
      ? inside.slice(0, MOST_SAMPLES).flatMap((item) => valuesAlong(item, rest))
      : []
  return isObject(inside) && Object.hasOwn(inside, segment) ? valuesAlong(inside[segment], rest) : []
}
