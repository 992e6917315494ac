import { applyBindingsFile } from '../correlate/apply-file.ts'
import type { Binding, Correlation } from '../correlate/binding.ts'
import type { BindingsFile } from '../correlate/bindings-file.ts'
import { correlate } from '../correlate/correlate.ts'
import { placeText, producerText } from '../correlate/place-text.ts'
import type { Header } from '../tape/header.ts'
import { recordedTurns, type RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'

/** A tape, wherever its turns are. */
export interface BoundTape {
  readonly path: string
  readonly header: Header
  readonly turns: readonly Turn[] | RecordedTurns
}

/** What a tape tells about the values that its server made up, as plain facts. */
export interface BindingFacts {
  readonly path: string
  readonly bindings: readonly BindingFact[]
  /** What a second run would have to confirm. */
  readonly guesses: readonly BindingFact[]
}

export interface BindingFact extends Pick<Binding, 'value' | 'confidence' | 'standing' | 'reason'> {
  /** Where the server said it, in the form that a bindings file takes. */
  readonly from: string
  readonly also: readonly string[]
  /** Where the client sent it. */
  readonly to: readonly string[]
}

export function bindingFacts({ path }: BoundTape, { bindings, guesses }: Correlation): BindingFacts {
  return { path, bindings: bindings.map(factOf), guesses: guesses.map(factOf) }
}

/** The bindings of a tape, with what its bindings file says, if there is one. */
export function bindingsOf({ turns, header }: BoundTape, file: BindingsFile | undefined): Correlation {
  const found = correlate(turns, { started: header.started })
  return file === undefined ? found : applyBindingsFile(found, file, recordedTurns(turns))
}

function factOf({ value, producer, also, consumers, confidence, standing, reason }: Binding): BindingFact {
  return {
    value,
    confidence,
    standing,
    reason,
    from: producerText(producer),
    also: also.map(producerText),
    to: consumers.map(placeText),
  }
}
