import type { RequestContent } from '../match/request-key.ts'
import type { Miss } from '../match/miss/miss.ts'
import type { ReportRedactor } from './redaction/report-redactor.ts'

/** What is to be said of one connection at the end. */
export class DriftLog {
  readonly misses: Miss[] = []
  readonly notes: string[] = []
  /** What the live server answered, because the tape could not. */
  readonly wentLive: RequestContent[] = []
  answered = 0
  readonly #onMiss: ((miss: Miss) => void) | undefined
  readonly #redactor: Pick<ReportRedactor, 'text'> | undefined
  readonly #onNote: ((note: string) => void) | undefined

  readonly #onLive: ((asked: RequestContent) => void) | undefined

  constructor(listeners: {
    readonly onMiss?: (miss: Miss) => void
    readonly onNote?: (note: string) => void
    readonly onLive?: (asked: RequestContent) => void
    /** A note may repeat what the client sent. */
    readonly shown: Pick<ReportRedactor, 'text'> | undefined
  }) {
    this.#redactor = listeners.shown
    this.#onMiss = listeners.onMiss
    this.#onNote = listeners.onNote
    this.#onLive = listeners.onLive
  }

  readonly note = (said: string): void => {
    const note = this.#redactor?.text(said) ?? said
    this.notes.push(note)
    this.#onNote?.(note)
  }

  /** What may happen often, and is said once. */
  noteOnce(note: string): void {
    if (!this.notes.includes(note)) this.note(note)
  }

  addMiss(miss: Miss): void {
    this.misses.push(miss)
    this.#onMiss?.(miss)
  }

  addUpstreamRequest(asked: RequestContent): void {
    this.wentLive.push(asked)
    this.#onLive?.(asked)
  }
}
