import type { Planned } from './plan.ts'

/** Carries the values that the live server makes up into the messages that the recorded client sent them back in. */
export interface Carrier {
  /** The recorded text of a message with live values in the place of recorded ones. */
  bind(planned: Planned): Carried
  /** Takes the live values out of what the server said in the course of a message. */
  learn(planned: Planned, texts: readonly string[]): void
  /** Messages, by index, whose answers hold what this one sends. */
  producersOf(index: number): readonly number[]
  /** Any recorded text, with every live value that is known by now. */
  live(text: string): string
  /** Any live text, with the names that the tape has for what the live server made up. */
  recorded(text: string): string
}

export interface Carried {
  readonly text: string
  readonly unbound: readonly Unbound[]
}

/** A value of the recorded server whose live counterpart is not known. */
export interface Unbound {
  readonly path: string
  readonly recorded: string
  readonly why: string
  /** Nothing came where it is said, which has a reason of its own; otherwise something came, and it was not in it. */
  readonly isSilent: boolean
}

/** Sends what was recorded, to the byte. */
export const NOTHING_CARRIED: Carrier = {
  bind: ({ text }) => ({ text, unbound: [] }),
  learn: () => {},
  producersOf: () => [],
  live: (text) => text,
  recorded: (text) => text,
}
