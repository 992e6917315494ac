import { applyBindingsFile } from '../correlate/apply-file.ts'
import type { Binding, FoundBindings } from '../bindings/binding.ts'
import type { BindingsFile } from '../bindings/bindings-file.ts'
import { findBindings } from '../bindings/find/find-bindings.ts'
import { formatTapeLocation, formatProducer } from '../correlate/place-text.ts'
import type { TapeHeader } from '../tape/header.ts'
import { toRecordedTurns, type RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'

/** A tape, wherever its turns are. */
export interface BindingsTape {
  readonly path: string
  readonly header: TapeHeader
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

export function bindingFacts({ path }: BindingsTape, { bindings, guesses }: FoundBindings): BindingFacts {
  return { path, bindings: bindings.map(bindingFact), guesses: guesses.map(bindingFact) }
}

/** The bindings of a tape, with what its bindings file says, if there is one. */
export function findTapeBindings(
  { turns, header }: BindingsTape,
  file: BindingsFile | undefined,
): FoundBindings {
  const found = findBindings(turns, { started: header.started })
  return file === undefined ? found : applyBindingsFile(found, file, toRecordedTurns(turns))
}

function bindingFact({
  value,
  producer,
  also,
  consumers,
  confidence,
  standing,
  reason,
}: Binding): BindingFact {
  return {
    value,
    confidence,
    standing,
    reason,
    from: formatProducer(producer),
    also: also.map(formatProducer),
    to: consumers.map(formatTapeLocation),
  }
}
