import type { Binding } from '../../bindings/binding.ts'
import type { RecordedMessage } from '../../tape/turn.ts'
import type { JsonPath } from '../../json/find.ts'
import type { PlannedMessage } from '../plan/plan.ts'

/** Carries the values that the live server makes up into the messages that the recorded client sent them back in. */
export interface CarriedValues {
  /** The recorded text of a message with live values in the place of recorded ones. */
  fill(planned: PlannedMessage): FilledMessage
  /** Takes the live values out of what the server said in the course of a message. */
  learn(planned: PlannedMessage, texts: readonly string[]): void
  /** Messages, by index, whose answers hold what this one sends. */
  producersOf(index: number): readonly number[]
  /** The recorded answer to a question of the server, with live values in the place of recorded ones. */
  fillAnswer(recorded: RecordedMessage): string
  /** The live counterpart of a bound or guessed value; undefined while it is not known. */
  liveValueOf(binding: Binding): string | undefined
  /** Whether a recorded and a live value at a path differ in nothing but what the live server made up anew. */
  explains(expected: unknown, actual: unknown, path: JsonPath): boolean
  /** Any live text with the recorded values in it, where those are such as nobody makes up twice. */
  recorded(text: string): string
}

export interface FilledMessage {
  readonly text: string
  readonly unbound: readonly UnboundValue[]
}

/** A value of the recorded server whose live counterpart is not known. */
export interface UnboundValue {
  readonly path: string
  readonly recorded: string
  readonly why: string
  /** Nothing came where it is said, which has a reason of its own; otherwise something came, and it was not in it. */
  readonly isProducerMissing: boolean
}

const NO_UNBOUND_VALUES: readonly UnboundValue[] = []

/** Sends what was recorded, to the byte. */
export const NO_CARRIED_VALUES: CarriedValues = {
  fill: ({ text }) => ({ text, unbound: NO_UNBOUND_VALUES }),
  learn: () => {},
  producersOf: () => [],
  fillAnswer: ({ text }) => text,
  liveValueOf: () => undefined,
  explains: () => false,
  recorded: (text) => text,
}
