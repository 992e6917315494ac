import type { ReplayStep } from './step.ts'

/** The facts of a step that are known without reading its messages from the tape. */
export type StepOutline = Pick<
  ReplayStep,
  'index' | 'state' | 'why' | 'sentAt' | 'duration' | 'isInjected' | 'findings' | 'judgedBy' | 'transformedBy'
>

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

export function withoutTexts(step: ReplayStep): ReplayStep {
  return { ...step, sent: undefined, answer: undefined, recordedAnswer: undefined }
}
