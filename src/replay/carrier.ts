import type { Binding } from '../correlate/binding.ts'
import type { Spoken } from '../tape/turn.ts'
import type { Path } from '../wire/members.ts'
import type { Planned } from './plan.ts'

/** Carries the values that the live server makes up into the messages that the recorded client sent them back in. */
export interface Carrier {
  /** The recorded text of a message with live values in the place of recorded ones. */
  bind(planned: Planned): Carried
  /** Takes the live values out of what the server said in the course of a message. */
  learn(planned: Planned, texts: readonly string[]): void
  /** Messages, by index, whose answers hold what this one sends. */
  producersOf(index: number): readonly number[]
  /** The recorded answer to a question of the server, with live values in the place of recorded ones. */
  answer(recorded: Spoken): string
  /** The live counterpart of a bound or guessed value; undefined while it is not known. */
  liveOf(binding: Binding): string | undefined
  /** Whether a recorded and a live value at a path differ in nothing but what the live server made up anew. */
  explains(expected: unknown, actual: unknown, path: Path): boolean
  /** Any live text with the recorded values in it, where those are such as nobody makes up twice. */
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

const NONE: readonly Unbound[] = []

/** Sends what was recorded, to the byte. */
export const NOTHING_CARRIED: Carrier = {
  bind: ({ text }) => ({ text, unbound: NONE }),
  learn: () => {},
  producersOf: () => [],
  answer: ({ text }) => text,
  liveOf: () => undefined,
  explains: () => false,
  recorded: (text) => text,
}
