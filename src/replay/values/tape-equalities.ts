import {
  distinctnessOf,
  findPieces,
  isNumericText,
  messageValues,
  type MessageValue,
} from '../../bindings/values.ts'
import { isChangedScalar } from '../../diff/difference.ts'
import { formatPath } from '../../json/path.ts'
import { exchangeLabel, type Turn } from '../../tape/turns.ts'
import type { ReplayReport } from '../report.ts'
import type { ReplayStep, StepFinding } from '../steps/step.ts'
import type { StepList } from '../steps/step-log.ts'
import { RecordedValueNames } from './carried-values.ts'

/** A run in which live values that stand for recorded ones were put back. */
export interface RestoredRun {
  readonly steps: StepList
  /** The response of a step with the recorded values put back. */
  readonly answerOf: (step: ReplayStep) => string | undefined
}

/**
 * Values that the tape holds in several places, such as an id that one response returns and a later response repeats. The live
 * values must be equal in the same places: a different value there is never noise.
 */
export class TapeEqualities {
  readonly #runs: readonly ReplayReport[]
  readonly #places: ReadonlyMap<string, TapePlaces>

  /** Looks on the tape only for values that differ in these runs. */
  constructor(turns: Iterable<Turn>, runs: readonly ReplayReport[]) {
    this.#runs = runs
    const candidates = candidateValues(runs)
    this.#places = candidates.size === 0 ? new Map() : findPlaces(turns, candidates)
  }

  restoreRuns(): readonly RestoredRun[] {
    return this.#runs.map((run) => this.#restore(run))
  }

  #restore(run: ReplayReport): RestoredRun {
    const bound = new Map(
      run.bindings.flatMap(({ value, live }) => (live === undefined ? [] : [[value, live]])),
    )
    const stepAt = stepsByFrame(run.steps)
    const lives = new Map<string, string>()
    for (const [value, { first, count }] of this.#places) {
      if (count < 2) continue
      const live = bound.get(value) ?? liveValueAt(first, value, stepAt.get(first.frame))
      if (live !== undefined) lives.set(value, live)
    }
    const all = [...bound, ...lives]
    const names = namesOf(all)
    const context = { run, lives }
    return {
      steps: lives.size === 0 ? run.steps : run.steps.transform((step) => this.#restoreStep(step, context)),
      answerOf: (step) => {
        if (step.answer === undefined || all.length === 0) return step.answer
        // At its first place, a value is judged like any other and may be noise.
        const isFirstHere = (value: string): boolean =>
          !bound.has(value) && this.#places.get(value)?.first.frame === step.frame
        const first = all.filter(([value]) => isFirstHere(value))
        const own = first.length === 0 ? names : namesOf(all.filter(([value]) => !isFirstHere(value)))
        return own.restore(step.answer)
      },
    }
  }

  #restoreStep(step: ReplayStep, context: RestoreContext): ReplayStep {
    if (step.findings.length === 0) return step
    return {
      ...step,
      findings: step.findings.flatMap((finding) => this.#restoreFinding(finding, step, context)),
    }
  }

  #restoreFinding(finding: StepFinding, step: ReplayStep, context: RestoreContext): readonly StepFinding[] {
    const { difference, path } = finding
    if (difference === undefined || !isChangedScalar(difference)) return [finding]
    const expected = String(difference.expected)
    const repeated = piecesOf(expected).flatMap((value) => {
      const first = this.#places.get(value)?.first
      const live = context.lives.get(value)
      const isFirst = first?.isResponse && first.frame === step.frame && isAt(path, first)
      const canBeFound = value === expected || live === value || (live && distinctnessOf(live) === 'strong')
      return live === undefined || isFirst || !canBeFound ? [] : [[value, live] as const]
    })
    if (repeated.length === 0) return [finding]
    const actual = String(difference.actual)
    const restored = context.lives.get(expected) === actual ? expected : namesOf(repeated).restore(actual)
    if (restored === expected) return []
    const [recorded, kept] = [expected, restored].map(piecesOf)
    const [broken] = repeated.find(([value]) => timesIn(kept, value) < timesIn(recorded, value)) ?? []
    if (broken === undefined || this.#isKnownElsewhere(restored, expected, context.run))
      return [{ ...finding, difference: { ...difference, actual: restored } }]
    const first = this.#places.get(broken)?.first
    return [
      {
        ...finding,
        message: `is no longer the value of ${first && exchangeLabel(first)} ${first?.path}`,
        isNeverNoise: true,
      },
    ]
  }

  /**
   * A value that also is on the tape, or in another run, was chosen from values that exist: the equality on the tape may be a
   * coincidence. A wrong value that the server makes up occurs nowhere else.
   */
  #isKnownElsewhere(restored: string, expected: string, run: ReplayReport): boolean {
    const known = new Set(piecesOf(expected))
    const values = piecesOf(restored).filter((value) => !known.has(value))
    return values.some(
      (value) =>
        this.#places.has(value) || this.#runs.some((other) => other !== run && hasAnswerWith(other, value)),
    )
  }
}

function timesIn(pieces: readonly string[] | undefined, value: string): number {
  return pieces?.filter((piece) => piece === value).length ?? 0
}

interface RestoreContext {
  readonly run: ReplayReport
  /** The live values of repeated values, by recorded value. */
  readonly lives: ReadonlyMap<string, string>
}

/** Where a value is on the tape for the first time, and in how many places it is. */
interface TapePlaces {
  readonly first: TapePlace
  readonly count: number
}

interface TapePlace {
  /** The frame and the exchange of the request. */
  readonly frame: number
  readonly exchange: number | undefined
  readonly isResponse: boolean
  /** As in findings: it continues into JSON inside a string. */
  readonly path: string
}

// More values than these do not differ in a server that can be compared at all.
const MAX_CANDIDATES = 5000

/** The values that could be on the tape more than once: recorded ones that changed, and the live ones in their place. */
function candidateValues(runs: readonly ReplayReport[]): ReadonlySet<string> {
  const found = new Set<string>()
  for (const { steps } of runs)
    for (const { findings } of steps.changed())
      for (const { difference } of findings) {
        if (found.size > MAX_CANDIDATES) return found
        if (difference === undefined || !isChangedScalar(difference)) continue
        for (const side of [difference.expected, difference.actual])
          for (const value of piecesOf(String(side))) found.add(value)
      }
  return found
}

/** The parts of a text that are unlikely to be equal by chance. Points in time are compared with the clock instead. */
function piecesOf(text: string): readonly string[] {
  if (text.length > LONGEST_TEXT) return []
  const timeless = text.replaceAll(DATE_AND_TIME, (time) => ' '.repeat(time.length))
  const pieces = findPieces(timeless, (piece) => distinctnessOf(piece) === 'strong' && !TIME.test(piece))
  return pieces.map(({ start, end }) => text.slice(start, end))
}

const DATE_AND_TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g

const LONGEST_TEXT = 50_000
const TIME = /\d{4}-\d\d-\d\d|\d\d:\d\d|^1\d{9}(?:\d{3}){0,3}$/

function findPlaces(turns: Iterable<Turn>, candidates: ReadonlySet<string>): ReadonlyMap<string, TapePlaces> {
  const found = new Map<string, TapePlaces>()
  const sent = new Set<string>()
  for (const { trigger, response, exchange } of turns) {
    if (trigger?.message.kind !== 'request') continue
    for (const message of [trigger, ...(response === undefined ? [] : [response])])
      for (const value of messageValues(message.text)) {
        if (value.opened || !isOfCall(value)) continue
        const isResponse = message === response
        const place = { frame: trigger.n, exchange, isResponse, path: formatPath(pathOf(value)) }
        for (const piece of new Set(piecesOf(value.text))) {
          if (!candidates.has(piece)) continue
          if (!isResponse) sent.add(piece)
          const known = found.get(piece)
          found.set(piece, { first: known?.first ?? place, count: (known?.count ?? 0) + 1 })
        }
      }
  }
  // Two equal numbers may be measurements that did not change in between, unless the client sends the number.
  for (const [value, { first }] of found)
    if (isNumericText(value) && !sent.has(value)) found.set(value, { first, count: 1 })
  return found
}

/** Returns true if a value belongs to the call and not to the envelope of the protocol. */
function isOfCall({ path, inside }: MessageValue): boolean {
  const [root, name] = path
  const isPlain = inside.every(({ kind }) => kind === 'json')
  return isPlain && (root === 'result' || root === 'error' || (root === 'params' && name !== '_meta'))
}

function pathOf({ path, inside }: MessageValue): readonly (string | number)[] {
  return [...path, ...inside.flatMap((step) => (step.kind === 'json' ? step.path : []))]
}

/** The steps that differ from the tape in any way, by the frame of their request. */
function stepsByFrame(steps: StepList): ReadonlyMap<number, ReplayStep> {
  return new Map(Array.from(steps.changed(), (step) => [step.frame, step]))
}

/** Reads the live value at the first place of a recorded one. Returns `undefined` if it cannot be told. */
function liveValueAt(place: TapePlace, value: string, step: ReplayStep | undefined): string | undefined {
  if (step === undefined) return value
  if (!place.isResponse) return step.sent !== undefined && step.sent.includes(value) ? value : undefined
  for (const { path, difference } of step.findings) {
    if (difference === undefined || !isChangedScalar(difference) || !isAt(path, place)) continue
    const expected = String(difference.expected)
    if (piecesOf(expected).includes(value)) return counterpartOf(value, expected, String(difference.actual))
  }
  return step.answer?.includes(value) ? value : undefined
}

/** Returns true if a path leads to a place or into the text there, which may be XML or another format. */
function isAt(path: string | undefined, place: TapePlace): boolean {
  return (
    path === place.path ||
    (path?.startsWith(place.path) === true && /^[.[]/.test(path.slice(place.path.length)))
  )
}

/** Finds the word of `actual` that is where `expected` has the value. */
function counterpartOf(value: string, expected: string, actual: string): string | undefined {
  if (expected === value) return actual
  const [then, now] = [expected.split(/(\s+)/), actual.split(/(\s+)/)]
  const at = then.findIndex((word) => piecesOf(word).includes(value))
  const [word, live] = [then[at], now[at]]
  if (then.length !== now.length || word === undefined || live === undefined) return undefined
  const start = word.indexOf(value)
  const [before, after] = [word.slice(0, start), word.slice(start + value.length)]
  if (!live.startsWith(before) || !live.endsWith(after)) return undefined
  return live.slice(before.length, live.length - after.length)
}

function hasAnswerWith({ steps }: ReplayReport, value: string): boolean {
  for (const { answer } of steps.changed()) if (answer?.includes(value)) return true
  return false
}

function namesOf(values: readonly (readonly [value: string, live: string])[]): RecordedValueNames {
  const names = new RecordedValueNames()
  for (const [value, live] of values) names.learn(value, live)
  return names
}
