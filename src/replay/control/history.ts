import { ReelayError } from '../../errors.ts'
import { isHandshakeLeftOut } from '../plan/plan.ts'
import type { Breakpoints } from './breakpoints.ts'
import type { SeekTarget, StepUnit, StopPhase } from './commands.ts'
import type { ControlledRun } from './controlled-run.ts'

/** A place between the messages of a run: before a message is sent, or after its response. */
export interface Position {
  readonly index: number
  readonly phase: StopPhase
}

interface FoundPosition {
  readonly position: Position
  /** The ids of the breakpoints that hold there; empty if the search ended at the first message. */
  readonly breakpoints: readonly number[]
}

/** Moves among the messages of a run that are done. Nothing is sent: what is shown comes from the steps of the run. */
export class RunHistory {
  readonly #run: ControlledRun

  constructor(run: ControlledRun) {
    this.#run = run
  }

  /** Returns true if the message was sent, or it was decided that it is not. */
  isDone(index: number): boolean {
    return this.#run.stepAt(index) !== undefined || this.#run.isOpen(index)
  }

  /** The position before this one; `undefined` if it is the first. */
  previous({ index, phase }: Position, unit: StepUnit): Position | undefined {
    if (unit === 'message' && phase === 'response') return { index, phase: 'request' }
    for (let before = index - 1; before >= 0; before--) {
      if (!this.#isStopPoint(before) || !this.isDone(before)) continue
      const hasResponse = unit === 'message' && this.#hasResponse(before)
      return { index: before, phase: hasResponse ? 'response' : 'request' }
    }
    return undefined
  }

  /** The position after this one; `undefined` if it is the one where the run has stopped or comes after that. */
  next({ index, phase }: Position, unit: StepUnit, live: Position | undefined): Position | undefined {
    if (unit === 'message' && phase === 'request' && this.#hasResponse(index))
      return { index, phase: 'response' }
    for (let after = index + 1; after < this.#run.total; after++) {
      if (!this.#isStopPoint(after)) continue
      if (!this.isDone(after)) break
      return { index: after, phase: 'request' }
    }
    return live !== undefined && live.index > index ? live : undefined
  }

  /** The first position after this one, up to the one where the run has stopped, at which a breakpoint holds. */
  findForward(
    from: Position,
    live: Position | undefined,
    breakpoints: Breakpoints,
  ): FoundPosition | undefined {
    let position = this.next(from, 'message', live)
    while (position !== undefined) {
      const found = this.#breakpointsAt(position, breakpoints)
      if (found.length > 0) return { position, breakpoints: found }
      if (live !== undefined && position.index === live.index && position.phase === live.phase) break
      position = this.next(position, 'message', live)
    }
    return undefined
  }

  /** The last position before this one at which a breakpoint holds, or the first position. */
  findBackward(from: Position, breakpoints: Breakpoints): FoundPosition | undefined {
    let first: Position | undefined
    for (
      let position = this.previous(from, 'message');
      position !== undefined;
      position = this.previous(position, 'message')
    ) {
      const found = this.#breakpointsAt(position, breakpoints)
      if (found.length > 0) return { position, breakpoints: found }
      first = position
    }
    return first && { position: first, breakpoints: [] }
  }

  /** The index of the first message at a place that a run can stop at; the number of messages if there is none. */
  indexOf(target: SeekTarget): number {
    const { total } = this.#run
    const isReached = this.#reaches(target)
    let index = 0
    while (index < total && !(isReached(index) && this.#isStopPoint(index))) index++
    if (index === total && ('exchange' in target || 'frame' in target || 'index' in target))
      throw new ReelayError('USAGE', `the tape has no message at ${describeTarget(target)} that is sent`, {
        hint: 'reelay inspect shows the numbers of the exchanges',
      })
    return index
  }

  #reaches(target: SeekTarget): (index: number) => boolean {
    if ('index' in target) return (index) => index >= target.index
    if ('percent' in target) return this.#reachesPercent(target.percent)
    if ('time' in target) return (index) => this.#run.messageAt(index).at >= target.time
    if ('exchange' in target) return (index) => this.#run.messageAt(index).turn.exchange === target.exchange
    return (index) => {
      const { trigger, response } = this.#run.messageAt(index).turn
      return trigger?.n === target.frame || response?.n === target.frame
    }
  }

  /** The percentage of a status event, which does not count the handshake. */
  #reachesPercent(percent: number): (index: number) => boolean {
    const { total } = this.#run
    const isCounted = (index: number): boolean => !isHandshakeLeftOut(this.#run.decisionOf(index))
    let counted = 0
    for (let index = 0; index < total; index++) if (isCounted(index)) counted++
    let before = 0
    return (index) => {
      const isReached = before >= (counted * percent) / 100
      if (isCounted(index)) before++
      return isReached
    }
  }

  #isStopPoint(index: number): boolean {
    return this.#run.decisionOf(index).kind !== 'skip'
  }

  #hasResponse(index: number): boolean {
    const step = this.#run.stepAt(index)
    return step?.sentAt !== undefined && step.recordedId !== undefined
  }

  #breakpointsAt({ index, phase }: Position, breakpoints: Breakpoints): readonly number[] {
    if (phase === 'end') return []
    const planned = this.#run.messageAt(index)
    const step = phase === 'response' ? this.#run.stepAt(index) : undefined
    const subject = step === undefined ? this.#run.subjectBefore(planned) : this.#run.subjectOf(step, planned)
    return breakpoints.stopsAt(subject, phase).map(({ id }) => id)
  }
}

function describeTarget(target: SeekTarget): string {
  return Object.entries(target)
    .filter(([name]) => name !== 'type')
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(', ')
}
