import { toRecordedTurns, type RecordedTurns } from '../../tape/turn-store.ts'
import type { Turn } from '../../tape/turn.ts'
import type { FoundBindings } from '../binding.ts'
import { detachedCopy } from '../../correlate/detached.ts'
import { BindingFinder } from '../../correlate/finder.ts'
import type { TapeMessage } from '../tape-messages.ts'
import { isRenewedByProtocol } from '../../correlate/protocol-pairs.ts'
import { SchemaValues } from '../../correlate/schema-values.ts'
import { producerCandidatesIn, type ProducerCandidate } from './producer-candidates.ts'
import { consumerCandidatesIn } from './consumer-candidates.ts'
import { SentValueScanner } from '../../correlate/wanted-pieces.ts'
import { SentValues } from '../../correlate/wanted.ts'
import { findCandidateMessages } from './candidate-messages.ts'

export interface FindBindingsOptions {
  /** When the clock of the tape stood at 0, from its header: dates that hang on now are found with it. */
  readonly started?: string
}

/**
 * Finds the values that the server made up and the client sent back, from the tape alone. Messages are looked at one by one,
 * several times: what is kept grows with what is found, and not with the tape.
 */
export function findBindings(
  given: readonly Turn[] | RecordedTurns,
  { started }: FindBindingsOptions = {},
): FoundBindings {
  const turns = toRecordedTurns(given)
  const messages = findCandidateMessages(turns)
  const sent = messages.filter(({ dir }) => dir === 'c2s')
  if (sent.length === 0) return { bindings: [], guesses: [] }
  const schemas = new SchemaValues(turns)
  const finderOf = (producers: ProducersByValue): BindingFinder =>
    new BindingFinder({
      producers,
      schemas,
      started: started === undefined ? undefined : Date.parse(started),
    })
  const wholes = addProducerCandidates(new Map(), messages, sentWholeValues(sent))
  const pieces = sentPieces(sent, finderOf(wholes))
  const finder = finderOf(pieces.isEmpty ? wholes : addProducerCandidates(wholes, messages, pieces))
  for (const message of sent) finder.bindMessage(consumerCandidatesIn(message))
  return finder.found.result()
}

function sentWholeValues(sent: readonly TapeMessage[]): SentValues {
  const wanted = new SentValues()
  for (const message of sent) for (const use of consumerCandidatesIn(message)) wanted.add(use)
  return wanted
}

/** What stands inside of a leaf that is bound as a whole is not wanted: a uuid has fifteen parts, and many share one with another. */
function sentPieces(sent: readonly TapeMessage[], finder: BindingFinder): SentValues {
  const wanted = new SentValues()
  for (const message of sent)
    for (const use of finder.leavesToSplit(consumerCandidatesIn(message))) wanted.addPieces(use)
  return wanted
}

type ProducersByValue = ReadonlyMap<string, readonly ProducerCandidate[]>

// The first places count, and of what is renewed with each answer the last: a handle that every answer repeats costs no more.
const MOST_PRODUCERS = 100

/** Adds where the server said what is wanted, if that is not known already. */
function addProducerCandidates(
  known: ProducersByValue,
  messages: readonly TapeMessage[],
  values: SentValues,
): ProducersByValue {
  const wanted = new SentValueScanner(values)
  const sightings = new Map<string, ProducerCandidate[]>()
  const isFull = (value: string): boolean =>
    known.has(value) || (sightings.get(value)?.length ?? 0) >= MOST_PRODUCERS
  for (const message of messages) {
    if (message.dir === 'c2s') continue
    for (const sighting of producerCandidatesIn(message, wanted, isFull)) {
      if (known.has(sighting.value)) continue
      const list = sightings.get(sighting.value) ?? []
      if (list.length >= MOST_PRODUCERS && !isRenewedByProtocol(sighting.spot)) continue
      const kept = detachedCandidate(sighting)
      list.push(kept)
      if (list.length === 1) sightings.set(kept.value, list)
    }
  }
  return known.size === 0 ? sightings : new Map([...known, ...sightings])
}

function detachedCandidate({ message, ...seen }: ProducerCandidate): ProducerCandidate {
  return { message, ...detachedCopy(seen) }
}
