import type { Asked } from '../match/key.ts'
import type { Miss } from '../match/miss.ts'
import type { Screen } from './screen.ts'

/** What is to be said of one connection at the end. */
export class Account {
  readonly misses: Miss[] = []
  readonly notes: string[] = []
  /** What the live server answered, because the tape could not. */
  readonly wentLive: Asked[] = []
  answered = 0
  readonly #onMiss: ((miss: Miss) => void) | undefined
  readonly #shown: Pick<Screen, 'text'> | undefined
  readonly #onNote: ((note: string) => void) | undefined

  readonly #onLive: ((asked: Asked) => void) | undefined

  constructor(listeners: {
    readonly onMiss?: (miss: Miss) => void
    readonly onNote?: (note: string) => void
    readonly onLive?: (asked: Asked) => void
    /** A note may repeat what the client sent. */
    readonly shown: Pick<Screen, 'text'> | undefined
  }) {
    this.#shown = listeners.shown
    this.#onMiss = listeners.onMiss
    this.#onNote = listeners.onNote
    this.#onLive = listeners.onLive
  }

  readonly note = (said: string): void => {
    const note = this.#shown?.text(said) ?? said
    this.notes.push(note)
    this.#onNote?.(note)
  }

  /** What may happen often, and is said once. */
  noteOnce(note: string): void {
    if (!this.notes.includes(note)) this.note(note)
  }

  miss(miss: Miss): void {
    this.misses.push(miss)
    this.#onMiss?.(miss)
  }

  goLive(asked: Asked): void {
    this.wentLive.push(asked)
    this.#onLive?.(asked)
  }
}
