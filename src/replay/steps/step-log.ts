import { indexesUpTo, NumberTable, ValueTable } from '../../store/columns.ts'
import type { PlannedMessage, ReplayPlan } from '../plan/plan.ts'
import type { SentMessage } from '../send/send-message.ts'
import { withFreshIds } from '../send/request-ids.ts'
import { observationText, recordedObservation } from './observed-notifications.ts'
import { emptyStep, NO_FINDINGS, NO_NAMES, type ReplayStep, type StepOutline } from './step.ts'
import { replaceId } from '../../protocol/find-id.ts'

interface StepLogOptions {
  /** How many steps may wait for the reader before no further message is sent. */
  readonly bufferSize?: number | undefined
  /** After this many steps, the texts of steps without findings are not kept. */
  readonly keepTexts?: number
}

// Even a few steps can have answers that are too long to keep them all.
const MAX_CHARACTERS = 64 * 1024 * 1024

/**
 * The steps of a run: given out once in the order in which they end, and kept for the report. A step that is as recorded is
 * kept as a row of numbers and rebuilt from the tape when it is read.
 */
export class StepLog implements AsyncIterable<ReplayStep> {
  readonly #rows = new StepRows()
  readonly #bufferSize: number
  readonly #keepTexts: number
  #plan: ReplayPlan | undefined
  /** How many steps were read. */
  #readCount = 0
  #characters = 0
  #isRead = false
  #isClosed = false
  #failure: { readonly error: unknown } | undefined
  #onStep: (() => void) | undefined
  #onRoom: (() => void)[] = []

  constructor({ bufferSize = Infinity, keepTexts = Infinity }: StepLogOptions = {}) {
    this.#bufferSize = bufferSize
    this.#keepTexts = keepTexts
  }

  /** Sets the plan that steps are rebuilt from; called before the first step is added. */
  setPlan(plan: ReplayPlan): void {
    this.#plan = plan
  }

  /** Adds the step of a message. */
  add(step: ReplayStep, sent?: SentMessage): void {
    const row = this.#rows.add(step, sent)
    if (!this.#isRead) this.#dropTexts(row)
    this.#wakeReader()
  }

  close(): void {
    this.#isClosed = true
    this.#wakeReader()
  }

  /** The reader gets the error after the steps that came before it. */
  fail(error: unknown): void {
    this.#failure ??= { error }
    this.close()
  }

  /** Resolves when the reader has room for more steps; `undefined` if it has room now, or if nothing reads. */
  waitForReader(): Promise<void> | undefined {
    return this.#isFull() ? new Promise((resolve) => this.#onRoom.push(resolve)) : undefined
  }

  /** The steps that were added so far. */
  steps(): StepList {
    const rows = this.#rows.inTapeOrder()
    const rowAt = (position: number): number => rows[position] ?? 0
    return new StepList({
      length: rows.length,
      keepTexts: this.#keepTexts,
      at: (position) => this.#stepAt(rowAt(position)),
      changedAt: (position) => this.#rows.changedAt(rowAt(position)),
      outlineAt: (position) => this.#rows.outlineAt(rowAt(position)),
    })
  }

  /** The step of the message with this index; `undefined` if it is not done. */
  stepOf(index: number): ReplayStep | undefined {
    const rows = this.#rows.inTapeOrder()
    let [start, end] = [0, rows.length]
    while (start < end) {
      const middle = (start + end) >>> 1
      if (this.#rows.indexAt(rows[middle] ?? 0) < index) start = middle + 1
      else end = middle
    }
    const row = rows[start]
    return row === undefined || this.#rows.indexAt(row) !== index ? undefined : this.#stepAt(row)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ReplayStep> {
    this.#isRead = true
    try {
      for (;;) {
        while (this.#readCount < this.#rows.size) yield this.#readNext()
        if (this.#failure !== undefined) throw this.#failure.error
        if (this.#isClosed) return
        await new Promise<void>((resolve) => (this.#onStep = resolve))
      }
    } finally {
      this.#isRead = false
      this.#makeRoom()
    }
  }

  #readNext(): ReplayStep {
    const row = this.#readCount++
    const step = this.#stepAt(row)
    this.#dropTexts(row)
    this.#makeRoom()
    return step
  }

  /** The reader has seen the texts, and the memory for the report must not grow with the tape. */
  #dropTexts(row: number): void {
    const step = this.#rows.changedAt(row)
    if (step === undefined || this.#keepTexts === Infinity) return
    this.#characters += lengthOf(step)
    const isTooMuch = row >= this.#keepTexts || this.#characters > MAX_CHARACTERS
    if (isTooMuch && step.findings.length === 0) this.#rows.replace(row, withoutTexts(step))
  }

  #stepAt(row: number): ReplayStep {
    const changed = this.#rows.changedAt(row)
    if (changed !== undefined) return changed
    if (this.#plan === undefined) throw new Error('the step log has no plan')
    const outline = this.#rows.outlineAt(row)
    return rebuildStep(this.#plan.at(outline.index), outline, this.#rows.idAt(row))
  }

  #wakeReader(): void {
    const wake = this.#onStep
    this.#onStep = undefined
    wake?.()
  }

  #isFull(): boolean {
    return this.#isRead && this.#rows.size - this.#readCount >= this.#bufferSize
  }

  #makeRoom(): void {
    if (!this.#isFull()) for (const resume of this.#onRoom.splice(0)) resume()
  }
}

function lengthOf({ sent = '', answer = '', recordedAnswer = '', notifications = '' }: ReplayStep): number {
  return sent.length + answer.length + recordedAnswer.length + notifications.length
}

/** One row of numbers for each step, in the order in which the steps ended. */
class StepRows {
  /** The steps that differ from the tape in any way. */
  readonly #changed: ReplayStep[] = []
  /**
   * `changedPlace` is the place in `#changed`, counted from 1; 0 for a step that can be rebuilt from the tape. `judgedBy` is the
   * number in `#rules` of the names of the rules.
   */
  readonly #rows = new NumberTable({
    index: 'uint32',
    changedPlace: 'uint32',
    id: 'uint32',
    sentAt: 'float64',
    duration: 'float64',
    judgedBy: 'uint32',
  })
  readonly #rules = new ValueTable<readonly string[]>()
  #order: Uint32Array | undefined
  #lastRules = { names: NO_NAMES, number: this.#rules.numberOf('', NO_NAMES) }

  get size(): number {
    return this.#rows.size
  }

  /** Returns the number of the row. */
  add(step: ReplayStep, sent: SentMessage | undefined): number {
    const id = idIfUnchanged(step, sent)
    return this.#rows.add({
      index: step.index,
      changedPlace: id === undefined ? this.#changed.push(step) : 0,
      id: id ?? 0,
      sentAt: step.sentAt ?? 0,
      duration: step.duration ?? 0,
      judgedBy: id === undefined ? 0 : this.#numberOfRules(step.judgedBy),
    })
  }

  changedAt(row: number): ReplayStep | undefined {
    const place = this.#rows.columns.changedPlace.at(row)
    return place === 0 ? undefined : this.#changed[place - 1]
  }

  replace(row: number, step: ReplayStep): void {
    this.#changed[this.#rows.columns.changedPlace.at(row) - 1] = step
  }

  outlineAt(row: number): StepOutline {
    const { index, sentAt, duration, judgedBy } = this.#rows.columns
    return (
      this.changedAt(row) ?? {
        index: index.at(row),
        state: 'done',
        why: undefined,
        sentAt: sentAt.at(row),
        duration: duration.at(row),
        findings: NO_FINDINGS,
        judgedBy: this.#rules.list[judgedBy.at(row)] ?? NO_NAMES,
        transformedBy: NO_NAMES,
      }
    )
  }

  /** The id that an unchanged request was sent with. */
  idAt(row: number): number {
    return this.#rows.columns.id.at(row)
  }

  indexAt(row: number): number {
    return this.#rows.columns.index.at(row)
  }

  inTapeOrder(): Uint32Array {
    if (this.#order?.length !== this.size) this.#order = this.#rows.orderBy('index') ?? indexesUpTo(this.size)
    return this.#order
  }

  #numberOfRules(names: readonly string[]): number {
    if (names !== this.#lastRules.names)
      this.#lastRules = { names, number: this.#rules.numberOf(names.join('\n'), names) }
    return this.#lastRules.number
  }
}

/** The id that the request was sent with, if the step can be rebuilt from it and the tape. */
function idIfUnchanged(
  { findings, retries, transformedBy, duration, isError, notifications }: ReplayStep,
  sent: SentMessage | undefined,
): number | undefined {
  if (sent?.kind !== 'requested' || findings.length + retries + transformedBy.length > 0) return undefined
  if (isError) return undefined // a row of numbers has no place for it, and few responses are errors
  const { planned, message, end, id } = sent
  const isAsRecorded = end.kind === 'answered' && end.asRecorded && message.text === planned.text
  // A notification that differs only in noise is not reported, but noise is learned from it.
  if (notifications !== undefined && notifications !== observationText(recordedObservation(planned.turn)))
    return undefined
  return isAsRecorded && duration !== undefined && isUint32(id) ? id : undefined
}

function isUint32(id: unknown): id is number {
  return typeof id === 'number' && id >>> 0 === id
}

function rebuildStep(planned: PlannedMessage, outline: StepOutline, id: number): ReplayStep {
  const { text, turn } = planned
  return {
    ...emptyStep(planned),
    ...outline,
    sent: withFreshIds(text, id).text,
    answer: turn.response && replaceId(turn.response.text, String(id)),
    notifications: observationText(recordedObservation(turn)),
    recordedDuration: (turn.response?.t ?? 0) - (turn.trigger?.t ?? 0),
  }
}

/** Where the steps of a list come from. Positions are in tape order, from 0. */
interface StepSource {
  readonly length: number
  /** Makes the whole step. */
  at(position: number): ReplayStep
  /** Returns the step if it differs from the tape in any way, and `undefined` if it can be rebuilt from the tape. */
  changedAt(position: number): ReplayStep | undefined
  outlineAt(position: number): StepOutline
  /** Unchanged steps from this position on have no texts when the list is iterated. */
  readonly keepTexts: number
}

/** A list that makes its items while it is iterated, so that a long one is never in memory as a whole. */
export class LazyList<Item> implements Iterable<Item> {
  readonly #items: () => Iterable<Item>

  constructor(items: () => Iterable<Item>) {
    this.#items = items
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.#items()[Symbol.iterator]()
  }

  map<Result>(change: (item: Item) => Result): Result[] {
    return Array.from(this, change)
  }

  flatMap<Result>(change: (item: Item) => Result | readonly Result[]): Result[] {
    return [...this].flatMap(change)
  }

  filter(isWanted: (item: Item) => boolean): Item[] {
    const found: Item[] = []
    for (const item of this) if (isWanted(item)) found.push(item)
    return found
  }

  find(isWanted: (item: Item) => boolean): Item | undefined {
    for (const item of this) if (isWanted(item)) return item
    return undefined
  }

  toJSON(): readonly Item[] {
    return [...this]
  }
}

/** The steps of a run in tape order. Steps that are as recorded are read from the tape when they are looked at. */
export class StepList extends LazyList<ReplayStep> {
  readonly #source: StepSource

  constructor(source: StepSource) {
    super(() => stepsIn(source))
    this.#source = source
  }

  get length(): number {
    return this.#source.length
  }

  /** Returns the step with its texts; a negative position counts from the end. */
  at(position: number): ReplayStep | undefined {
    const from0 = position < 0 ? this.length + position : position
    return from0 >= 0 && from0 < this.length ? this.#source.at(from0) : undefined
  }

  /** Returns the step if it differs from the tape in any way. */
  changedAt(position: number): ReplayStep | undefined {
    return position < this.length ? this.#source.changedAt(position) : undefined
  }

  /** The steps that differ from the tape in any way; the tape is not read. */
  *changed(): Generator<ReplayStep> {
    for (let position = 0; position < this.length; position++) {
      const step = this.#source.changedAt(position)
      if (step !== undefined) yield step
    }
  }

  /** The facts of every step; the tape is not read. */
  *outlines(): Generator<StepOutline> {
    for (let position = 0; position < this.length; position++) yield this.#source.outlineAt(position)
  }

  /** The method and tool of every message that was sent. */
  *sentCalls(): Generator<Pick<ReplayStep, 'method' | 'tool'>> {
    for (let position = 0; position < this.length; position++)
      if (this.#source.outlineAt(position).sentAt !== undefined) yield this.#source.at(position)
  }

  /**
   * Merges the steps of several runs of the same tape. `merge` is called once for each message that differs from the tape in
   * any run, in tape order.
   */
  static combine(
    runs: readonly StepList[],
    merge: (steps: readonly [ReplayStep, ...ReplayStep[]]) => ReplayStep,
  ): StepList {
    const [first, ...others] = runs
    if (first === undefined) throw new Error('there is no run')
    const merged = new Map<number, ReplayStep>()
    for (let position = 0; position < first.length; position++) {
      if (runs.every((run) => run.changedAt(position) === undefined)) continue
      const same = others.flatMap((run) => run.at(position) ?? [])
      merged.set(position, merge([first.#source.at(position), ...same]))
    }
    return new StepList({
      ...first.#source,
      changedAt: (position) => merged.get(position),
      at: (position) => merged.get(position) ?? first.#source.at(position),
      outlineAt: (position) => merged.get(position) ?? first.#source.outlineAt(position),
    })
  }

  /** A list in which `change` was applied to every step. It may change findings only of steps that differ from the tape. */
  transform(change: (step: ReplayStep) => ReplayStep): StepList {
    const { length, keepTexts } = this.#source
    const changedAt = (position: number): ReplayStep | undefined => {
      const step = this.#source.changedAt(position)
      return step && change(step)
    }
    return new StepList({
      length,
      keepTexts,
      changedAt,
      at: (position) => change(this.#source.at(position)),
      outlineAt: (position) => changedAt(position) ?? this.#source.outlineAt(position),
    })
  }
}

function* stepsIn(source: StepSource): Generator<ReplayStep> {
  for (let position = 0; position < source.length; position++) {
    const isShort = position >= source.keepTexts && source.changedAt(position) === undefined
    yield isShort ? withoutTexts(source.at(position)) : source.at(position)
  }
}

function withoutTexts(step: ReplayStep): ReplayStep {
  const { notifications: _, ...rest } = step
  return { ...rest, sent: undefined, answer: undefined, recordedAnswer: undefined }
}
