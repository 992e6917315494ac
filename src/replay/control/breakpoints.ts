import { ReelayError } from '../../errors.ts'
import { type FilterExpression, type FilterSubject, parseFilter } from '../../filter/filter.ts'
import { parsePath, type PathPattern, valuesAtPattern } from '../../json/path.ts'
import type { Breakpoint, BreakpointSpec, StopPhase } from './commands.ts'

/** A message at which breakpoints are checked. */
export interface BreakpointSubject extends FilterSubject {
  /** Position among the client's messages on the tape, from 0. */
  readonly index: number
  /** The frame of the recorded response. */
  readonly responseFrame: number | undefined
  /** True if the response differs from the tape. */
  readonly isDifferent: boolean
  /** Returns the values that the texts of logpoints refer to. */
  values(): object
}

/** The breakpoints that hold at a message. */
interface BreakpointHits {
  readonly stops: readonly Breakpoint[]
  /** The texts of logpoints. */
  readonly logs: readonly { readonly breakpoint: number; readonly text: string }[]
}

/** The breakpoints of a controller. */
export class Breakpoints {
  #all: readonly ArmedBreakpoint[] = []
  #lastId = 0
  #phases: Readonly<Record<StopPhase, boolean>> = NO_PHASES

  /** Returns true if a message has to be checked in this phase. It is asked for every message, and most runs have no breakpoints. */
  isArmed(phase: StopPhase): boolean {
    return this.#phases[phase]
  }

  /** Throws a `ReelayError` if the condition, the hits or the text cannot be read. */
  add(spec: BreakpointSpec): Breakpoint {
    const armed = new ArmedBreakpoint(spec, this.#lastId + 1)
    this.#lastId++
    this.#set([...this.#all, armed])
    return armed.view
  }

  /** Returns false if there is no breakpoint with this id. */
  remove(id: number): boolean {
    const rest = this.#all.filter((one) => one.id !== id)
    const isFound = rest.length < this.#all.length
    this.#set(rest)
    return isFound
  }

  list(): readonly Breakpoint[] {
    return this.#all.map(({ view }) => view)
  }

  /** Checks a message and counts the hits. */
  check(subject: BreakpointSubject, phase: StopPhase): BreakpointHits {
    let hits = NO_HITS
    for (const armed of this.#all) {
      if (!armed.holdsAt(subject, phase) || !armed.count(subject)) continue
      const text = armed.textFor(subject)
      hits =
        text === undefined
          ? { ...hits, stops: [...hits.stops, armed.view] }
          : { ...hits, logs: [...hits.logs, { breakpoint: armed.id, text }] }
    }
    for (const { id, once } of hits.stops) if (once === true) this.remove(id)
    return hits
  }

  /** The breakpoints that stop at a message of the past. Hits are not counted again, and nothing is printed. */
  stopsAt(subject: BreakpointSubject, phase: StopPhase): readonly Breakpoint[] {
    return this.#all
      .filter((one) => one.view.log === undefined && one.holdsAt(subject, phase) && one.hasStoppedAt(subject))
      .map(({ view }) => view)
  }

  #set(all: readonly ArmedBreakpoint[]): void {
    this.#all = all
    this.#phases = {
      request: all.some((one) => one.isCheckedAt('request')),
      response: all.some((one) => one.isCheckedAt('response')),
      end: false,
    }
  }
}

/** Shared, because most messages hit nothing. */
export const NO_HITS: BreakpointHits = { stops: [], logs: [] }

const NO_PHASES: Readonly<Record<StopPhase, boolean>> = { request: false, response: false, end: false }

class ArmedBreakpoint {
  readonly id: number
  readonly #spec: BreakpointSpec
  readonly #phase: StopPhase
  readonly #filter: FilterExpression | undefined
  readonly #log: readonly (string | PathPattern)[] | undefined
  readonly #isHit: (count: number) => boolean
  /** The frames of the messages at which it has stopped, if it stops only at some hits. */
  readonly #stoppedAt = new Set<number>()
  #hitCount = 0

  constructor(spec: BreakpointSpec, id: number) {
    const { filter, log, hits, phase, difference } = spec
    this.id = id
    this.#spec = spec
    this.#filter = filter === undefined ? undefined : parseFilter(filter)
    this.#log = log === undefined ? undefined : parseLogText(log)
    this.#isHit = hits === undefined ? () => true : parseHits(hits)
    const isLate =
      difference === true || this.#filter?.needsResponse === true || this.#log?.some(needsResponse) === true
    if (phase === 'request' && isLate) throw tooEarly(spec)
    this.#phase = phase ?? (isLate ? 'response' : 'request')
  }

  get view(): Breakpoint {
    return { ...this.#spec, id: this.id, phase: this.#phase, hitCount: this.#hitCount }
  }

  isCheckedAt(phase: StopPhase): boolean {
    return phase === this.#phase || (phase === 'response' && this.#spec.frame !== undefined)
  }

  holdsAt(subject: BreakpointSubject, phase: StopPhase): boolean {
    const { frame, index, difference } = this.#spec
    if (index !== undefined && index !== subject.index) return false
    const isAtResponse = frame !== undefined && frame === subject.responseFrame
    if (phase !== (isAtResponse ? 'response' : this.#phase)) return false
    if (frame !== undefined && frame !== subject.frame && !isAtResponse) return false
    if (difference === true && !subject.isDifferent) return false
    return this.#filter?.matches(subject) ?? true
  }

  /** Counts a hit. Returns true if the run stops at this one. */
  count({ frame = 0 }: BreakpointSubject): boolean {
    const isHit = this.#isHit(++this.#hitCount)
    if (isHit && this.#spec.hits !== undefined) this.#stoppedAt.add(frame)
    return isHit
  }

  /** A breakpoint that stops only at some hits stops at the same messages when the run goes back. */
  hasStoppedAt({ frame = 0 }: BreakpointSubject): boolean {
    return this.#spec.hits === undefined || this.#stoppedAt.has(frame)
  }

  /** The text of a logpoint; `undefined` for a breakpoint that stops. */
  textFor(subject: BreakpointSubject): string | undefined {
    return this.#log
      ?.map((part) => (typeof part === 'string' ? part : textAt(subject.values(), part)))
      .join('')
  }
}

/** What is known only after the response. */
const RESPONSE_NAMES: ReadonlySet<string> = new Set([
  'result',
  'error',
  'duration',
  'state',
  'isError',
  'differences',
  'recorded',
])

function needsResponse(part: string | PathPattern): boolean {
  return typeof part !== 'string' && RESPONSE_NAMES.has(String(part[0]))
}

/** Splits `total is {result.total}` into texts and paths. `{{` is a brace. */
function parseLogText(text: string): readonly (string | PathPattern)[] {
  return text
    .split(/(\{\{|\}\}|\{[^{}]*\})/)
    .filter((part) => part !== '')
    .map((part) => {
      if (part === '{{' || part === '}}') return part.slice(1)
      return /^\{.*\}$/s.test(part) ? parsePath(part.slice(1, -1).trim()) : part
    })
}

function textAt(values: object, path: PathPattern): string {
  const found = valuesAtPattern(values, path)
  const value = found.length > 1 ? found : found[0]
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
}

function parseHits(text: string): (count: number) => boolean {
  const [, operator = '==', number] = /^\s*(==|>=|>|%)?\s*(\d{1,9})\s*$/.exec(text) ?? []
  const limit = Number(number)
  if (number === undefined || limit === 0)
    throw new ReelayError('USAGE', `invalid hit count ${JSON.stringify(text)}`, {
      hint: 'write 3 for the third hit, >=3 from the third on, or %3 for every third',
    })
  if (operator === '%') return (count) => count % limit === 0
  if (operator === '>=') return (count) => count >= limit
  return operator === '>' ? (count) => count > limit : (count) => count === limit
}

function tooEarly({ filter, log }: BreakpointSpec): ReelayError {
  return new ReelayError(
    'USAGE',
    `the breakpoint depends on the response (${filter ?? log ?? 'difference'}), which is not known before the request is sent`,
    { hint: 'leave out the phase, or use a condition on params' },
  )
}
