import { MessageCounterparts } from '../../bindings/find/confirm.ts'
import type { Difference } from '../../diff/difference.ts'
import { separateNoise } from '../../diff/noise/index.ts'
import { LearnedNoise } from '../../diff/noise/learned.ts'
import type { SessionTimes } from '../../diff/noise/noise-kind.ts'
import { parseJson } from '../../json/parse.ts'
import { formatPath } from '../../json/path.ts'
import { calledTool, type Id } from '../../protocol/message.ts'
import type { Tape } from '../../store/file/read.ts'
import { createDiffer } from '../../diff/diff.ts'
import { compareConnection, type RecordedNotification } from '../judge/connection-notifications.ts'
import { outcomeText } from '../judge/judge.ts'
import type { Turn } from '../../tape/turns.ts'
import type { ReplayedTape } from '../plan/server-part.ts'
import {
  completeObservation,
  connectionNotifications,
  notificationKey,
  observationText,
  observedNotification,
  recordedObservation,
} from '../steps/observed-notifications.ts'
import { NotificationNoise } from './notification-noise.ts'
import type { Layer, ReplayStep, StepFinding } from '../steps/step.ts'
import type { RestoredRun } from '../values/tape-equalities.ts'

/** A path at which the responses to the same request differ from run to run. */
export interface NoisyPath {
  readonly method: string
  readonly tool: string | undefined
  readonly path: string
  /** How many differences were seen. */
  readonly seen: number
  /** The frames of the requests whose responses have this noise, and the numbers of their exchanges. */
  readonly frames: readonly number[]
  readonly exchanges: readonly number[]
  /** True if the tape has several calls of the tool or method, and the responses to all of them have this noise. */
  readonly inEveryCall: boolean
  /** The noise profile has it. Otherwise it was learned from the server under test. */
  readonly isFromProfile?: true
}

/** Identifies the request of an exchange. Requests of a batch have the same frame. */
type ExchangeRequest = Pick<ReplayStep, 'frame' | 'exchange' | 'recordedId' | 'method' | 'tool'>

interface NoiseOfRequest {
  readonly request: ExchangeRequest
  readonly noise: LearnedNoise
}

/** What differs between the notifications of two recordings: of one request, or of all connections. */
interface RecordedNoise {
  readonly noise: LearnedNoise
  readonly series: NotificationNoise
  readonly key: string | undefined
}

/** The noise of each exchange. It is never applied to another exchange, whose response may be stable. */
export class ExchangeNoise {
  readonly #noises = new Map<string, NoiseOfRequest>()
  /** What was learned from the notifications of each exchange, which are compared apart from its response. */
  readonly #ofNotifications = new Map<string, NoiseOfRequest>()
  readonly #series = new Map<string, NotificationNoise>()
  /** What differs between the notifications of two recordings. */
  readonly #ofRecordings: RecordedNoise[] = []
  /** Paths that are not noise although the runs differ there. */
  readonly #rejected = new Set<string>()

  /** Learns which values differ between runs. Steps that are as recorded in all runs are equal and are not read. */
  learnFromRuns([first, ...others]: readonly RestoredRun[]): void {
    if (first === undefined) return
    this.#learnSeries([first, ...others])
    for (const other of others)
      for (let position = 0; position < first.steps.length; position++) {
        if ([first, other].every(({ steps }) => steps.changedAt(position) === undefined)) continue
        const [one, two] = [first.steps.at(position), other.steps.at(position)]
        if (one === undefined || two === undefined) continue
        this.#learnNotifications(one, two)
        if (![one, two].some(isOfOtherKind))
          this.#learn(one, outcomeOf(first.answerOf(one)), outcomeOf(other.answerOf(two)))
      }
  }

  /** Learns which values differ between two recordings. */
  learnFromBaseline(tape: ReplayedTape, baseline: Tape): void {
    const turns = [...tape.turns]
    const counterparts = new MessageCounterparts(turns, baseline.turns)
    for (const [turn, turnOf] of turns.entries()) {
      const { trigger, response, exchange } = turnOf
      if (response === undefined || trigger?.message.kind !== 'request') continue
      const { message, n: frame } = trigger
      const other = counterparts.find({
        turn,
        frame: response.n,
        ...(response.item !== undefined && { item: response.item }),
      })
      const { id: recordedId, method } = message
      const request = { frame, exchange, recordedId, method, tool: calledTool(message) }
      this.#learn(request, outcomeOf(response.text), outcomeOf(other?.text))
      const counterpart = counterparts.turnOf(turnOf)
      if (counterpart !== undefined)
        this.#learnRecordings(progressText(turnOf), progressText(counterpart), requestKey(request))
    }
    this.#learnRecordings(...connectionTexts(turns, baseline.turns))
  }

  /** Learns from the notifications of two recordings: of one request, or of all connections. */
  #learnRecordings(one: string, other: string, key?: string): void {
    if (one === other) return
    const noise = new LearnedNoise()
    noise.learn(one, other)
    noise.learn(other, one) // a message that is new in one recording is missing in the other
    this.#ofRecordings.push({ noise, series: new NotificationNoise([one, other]), key })
  }

  /** Returns true if a finding is explained by the noise of its exchange. With a clock, times must also fit to it. */
  explains(step: ExchangeRequest, finding: StepFinding, clock?: SessionTimes): boolean {
    const { difference, isNeverNoise } = finding
    if (isNeverNoise) return false
    if (this.#series.get(requestKey(step))?.explains(finding)) return true
    if (finding.layer === 'notifications' && this.#differsInRecordings(step, finding)) return true
    const learned = this.#learnedFor(step, finding)
    if (difference === undefined || learned === undefined) return false
    const timed = { explains: (one: Difference) => learned.explains(one, clock && { clock }) }
    return separateNoise([difference], { learned: timed }).kept.length === 0
  }

  /** Returns true if the place of a finding is noisy, or is an item of a list with noisy items, but the value does not fit its class. More runs may widen the class. */
  mayExplain(step: ExchangeRequest, finding: StepFinding): boolean {
    const { difference, isNeverNoise } = finding
    if (isNeverNoise || difference === undefined) return false
    const place = generalPath(formatPath(difference.path))
    return (
      this.#learnedFor(step, finding)
        ?.paths()
        .some(({ path }) => generalPath(path) === place) === true
    )
  }

  /** What was learned about the response, or about what the server sent before it. */
  #learnedFor(step: ExchangeRequest, { layer, difference }: StepFinding): LearnedNoise | undefined {
    const isBefore = layer === 'notifications' || difference?.path[0] === 'requests'
    return (isBefore ? this.#ofNotifications : this.#noises).get(requestKey(step))?.noise
  }

  /** Returns true if a finding is explained, but further runs may show that it is a change: an item that may be lost, among items that come and go. */
  isDoubtful(step: ExchangeRequest, { layer, difference }: StepFinding): boolean {
    if (layer === 'notifications' || difference === undefined) return false
    return this.#noises.get(requestKey(step))?.noise.isDoubtful(difference) === true
  }

  /** Returns true if a finding is about the order of items that have the same order when noisy values are left out. */
  hasSameOrder(step: ExchangeRequest, { layer, difference }: StepFinding): boolean {
    if (layer === 'notifications' || difference?.kind !== 'order') return false
    return this.#noises.get(requestKey(step))?.noise.hasSameOrder(difference) === true
  }

  /** What was learned about the response of each exchange. */
  exchanges(): Iterable<NoiseOfRequest> {
    return this.#noises.values()
  }

  /** What was learned about the notifications of each exchange. */
  notifications(): Iterable<NoiseOfRequest> {
    return this.#ofNotifications.values()
  }

  /** Leaves the path of a finding out of the list of noise. */
  reject(step: ExchangeRequest, { path = '' }: StepFinding): void {
    this.#rejected.add(requestKey(step) + generalPath(path))
  }

  /** Lists the noise. `steps` tells how many calls there are of each tool or method. */
  paths(
    steps: Iterable<Pick<ReplayStep, 'method' | 'tool'>>,
    isListed: (request: ExchangeRequest) => boolean = () => true,
  ): readonly NoisyPath[] {
    const all = [...this.#noises.values(), ...this.#ofNotifications.values()]
    if (all.length === 0) return []
    const calls = new Map<string, number>()
    for (const step of steps) calls.set(callKey(step), (calls.get(callKey(step)) ?? 0) + 1)
    const found = new Map<string, Omit<NoisyPath, 'inEveryCall'>>()
    for (const { request, noise } of all)
      for (const { path, seen } of noise.paths()) {
        if (!isListed(request)) break
        if (this.#rejected.has(requestKey(request) + generalPath(path))) continue
        const key = callKey(request, path)
        const { method, tool } = request
        const known = found.get(key) ?? { method, tool, path, seen: 0, frames: [], exchanges: [] }
        found.set(key, {
          ...known,
          seen: known.seen + seen,
          frames: [...known.frames, request.frame],
          exchanges: [...known.exchanges, request.exchange ?? 0],
        })
      }
    return Array.from(found.values(), (each) => ({
      ...each,
      inEveryCall: each.frames.length > 1 && each.frames.length === calls.get(callKey(each)),
    }))
  }

  #differsInRecordings(step: ExchangeRequest, finding: StepFinding): boolean {
    const isOfConnection = finding.difference?.path[0] === 'connection'
    const wanted = isOfConnection ? undefined : requestKey(step)
    return this.#ofRecordings.some(
      ({ noise, series, key }) =>
        key === wanted &&
        (series.explains(finding) ||
          (finding.difference !== undefined && noise.explains(finding.difference))),
    )
  }

  /** Learns which notifications are random, and which vary in number. */
  #learnSeries(runs: readonly RestoredRun[]): void {
    const [first] = runs
    for (let position = 0; position < (first?.steps.length ?? 0); position++) {
      if (runs.every(({ steps }) => steps.changedAt(position)?.notifications === undefined)) continue
      const same = runs.flatMap(({ steps }) => steps.at(position) ?? [])
      const [step] = same
      const noise = new NotificationNoise(same.map(({ notifications }) => notifications))
      if (step !== undefined) this.#series.set(requestKey(step), noise)
    }
  }

  /** Learns from what the server sent besides the answer. */
  #learnNotifications(request: ReplayStep, other: ReplayStep): void {
    const one = completeObservation(request.notifications)
    const two = completeObservation(other.notifications)
    this.#learn(request, one, two, this.#ofNotifications)
    this.#learn(request, two, one, this.#ofNotifications) // a message that is new in one run is missing in the other
  }

  #learn(
    request: ExchangeRequest,
    one: string | undefined,
    other: string | undefined,
    into = this.#noises,
  ): void {
    if (one === undefined || other === undefined || one === other) return
    const { frame, exchange, recordedId, method, tool } = request
    const key = requestKey(request)
    const known = into.get(key) ?? {
      request: { frame, exchange, recordedId, method, tool },
      noise: new LearnedNoise(),
    }
    known.noise.learn(one, other)
    into.set(key, known)
  }
}

function progressText(turn: Turn): string {
  return completeObservation(observationText(recordedObservation(turn)))
}

/** The notifications of all connections of two recordings, by the names of the first ones. */
function connectionTexts(turns: readonly Turn[], others: readonly Turn[]): readonly [string, string] {
  const recorded = turns.flatMap(notificationsOf)
  const live = others.flatMap(notificationsOf)
  const differ = createDiffer({ order: 'reported' })
  const { observed = '{}' } = compareConnection({ recorded, live }, (one, other) => differ.values(one, other))
  const ours = Object.fromEntries(recorded.map(({ key, value }) => [key, value]))
  return [
    completeObservation(JSON.stringify({ connection: ours })),
    completeObservation(`{"connection":${observed}}`),
  ]
}

function notificationsOf(turn: Turn): readonly RecordedNotification[] {
  return connectionNotifications(turn).flatMap((recorded) => {
    const { message } = recorded
    if (message.kind !== 'notification') return []
    const value = observedNotification(message)
    return [
      { key: notificationKey(recorded), value, isOptional: false, isUncertain: false, delay: 0, wait: 0 },
    ]
  })
}

/** Returns `undefined` if the text is not a response. */
function outcomeOf(text: string | undefined): string | undefined {
  return text === undefined || parseJson(text) === undefined ? undefined : outcomeText(text)
}

function requestKey({
  frame,
  recordedId,
}: {
  readonly frame: number
  readonly recordedId?: Id | undefined
}): string {
  return JSON.stringify([frame, recordedId])
}

function generalPath(path: string): string {
  return path.replaceAll(/\[\d+\]/g, '[*]')
}

function callKey({ method, tool }: Pick<ReplayStep, 'method' | 'tool'>, path?: string): string {
  return JSON.stringify([method, tool, path])
}

/** Returns true if a call failed, or failed no longer. Its response has nothing in common with the others. */
export function isOfOtherKind({ findings }: ReplayStep): boolean {
  return findings.some(({ layer }) => OTHER_KINDS.has(layer))
}

const OTHER_KINDS: ReadonlySet<Layer> = new Set<Layer>(['transport', 'json-rpc', 'is-error'])
