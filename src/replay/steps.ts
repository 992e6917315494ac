import type { StepResult } from './step-result.ts'

export interface StepsOptions {
  /** So many results may wait for whoever reads them. */
  readonly most?: number | undefined
  /** After so many steps, the texts of those that are as recorded are not kept. */
  readonly keepTexts?: number
}

/** The results of a run: given out once as they come, and kept for the report. */
export class Steps implements AsyncIterable<StepResult> {
  readonly all: StepResult[] = []
  readonly #most: number
  readonly #keepTexts: number
  /** How many were given out. */
  #taken = 0
  #isRead = false
  #isClosed = false
  #failure: { readonly error: unknown } | undefined
  #onStep: (() => void) | undefined
  #onRoom: (() => void)[] = []

  constructor({ most = Infinity, keepTexts = Infinity }: StepsOptions = {}) {
    this.#most = most
    this.#keepTexts = keepTexts
  }

  push(step: StepResult): void {
    const place = this.all.push(step) - 1
    if (!this.#isRead) this.#shorten(place)
    this.#told()
  }

  close(): void {
    this.#isClosed = true
    this.#told()
  }

  /** Whoever awaits the next step gets the error, after the steps that came before it. */
  fail(error: unknown): void {
    this.#failure ??= { error }
    this.close()
  }

  /** Resolves when fewer wait to be read than may; at once when nobody reads. */
  room(): Promise<void> | undefined {
    return this.#isFull() ? new Promise((resolve) => this.#onRoom.push(resolve)) : undefined
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StepResult> {
    this.#isRead = true
    try {
      for (;;) {
        for (let step = this.#next(); step !== undefined; step = this.#next()) yield step
        if (this.#failure !== undefined) throw this.#failure.error
        if (this.#isClosed) return
        await new Promise<void>((resolve) => (this.#onStep = resolve))
      }
    } finally {
      this.#isRead = false
      this.#makeRoom()
    }
  }

  #next(): StepResult | undefined {
    const step = this.all[this.#taken]
    if (step === undefined) return undefined
    this.#shorten(this.#taken++)
    this.#makeRoom()
    return step
  }

  #told(): void {
    const told = this.#onStep
    this.#onStep = undefined
    told?.()
  }

  /** Whoever reads sees the texts; what is kept for the report must not grow with the tape. */
  #shorten(place: number): void {
    const step = this.all[place]
    if (step === undefined || place < this.#keepTexts || step.findings.length > 0) return
    this.all[place] = { ...step, sent: undefined, answer: undefined, recordedAnswer: undefined }
  }

  #isFull(): boolean {
    return this.#isRead && this.all.length - this.#taken >= this.#most
  }

  #makeRoom(): void {
    if (!this.#isFull()) for (const go of this.#onRoom.splice(0)) go()
  }
}
