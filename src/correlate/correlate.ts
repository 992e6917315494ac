import { recordedTurns, type RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { Correlation } from './binding.ts'
import { ClientWords } from './client-words.ts'
import { Finder } from './finder.ts'
import type { TapeMessage } from './messages.ts'
import { isRenewed } from './protocol-pairs.ts'
import { SchemaValues } from './schema-values.ts'
import { sightingsIn, type Sighting } from './sightings.ts'
import { usesIn, type Use } from './uses.ts'
import { WantedPieces } from './wanted-pieces.ts'
import { Wanted } from './wanted.ts'
import { worthALook } from './worth-a-look.ts'

export interface CorrelateOptions {
  /** When the clock of the tape stood at 0, from its header: dates that hang on now are found with it. */
  readonly started?: string
}

/**
 * Finds the values that the server made up and the client sent back, from the tape alone. Messages are looked at one by one,
 * several times: what is kept grows with what is found, and not with the tape.
 */
export function correlate(
  given: readonly Turn[] | RecordedTurns,
  { started }: CorrelateOptions = {},
): Correlation {
  const turns = recordedTurns(given)
  const messages = worthALook(turns)
  const sent = messages.filter(({ dir }) => dir === 'c2s')
  if (sent.length === 0) return { bindings: [], guesses: [] }
  const sightings = sightingsOf(messages, new WantedPieces(new Wanted(usesOf(sent))))
  const finder = new Finder({
    sightings,
    words: new ClientWords(usesOf(sent), (value) => sightings.has(value)),
    schemas: new SchemaValues(turns),
    started: started === undefined ? undefined : Date.parse(started),
  })
  for (const message of sent) finder.look(usesIn(message))
  return finder.found.correlation()
}

function* usesOf(messages: readonly TapeMessage[]): Generator<Use> {
  for (const message of messages) yield* usesIn(message)
}

// The first places count, and of what is renewed with each answer the last: a handle that every answer repeats costs no more.
const MOST_SIGHTINGS = 100

function sightingsOf(
  messages: readonly TapeMessage[],
  wanted: WantedPieces,
): ReadonlyMap<string, readonly Sighting[]> {
  const sightings = new Map<string, Sighting[]>()
  const isFull = (value: string): boolean => (sightings.get(value)?.length ?? 0) >= MOST_SIGHTINGS
  for (const message of messages) {
    if (message.dir === 'c2s') continue
    for (const sighting of sightingsIn(message, wanted, isFull)) {
      const list = sightings.get(sighting.value) ?? []
      if (list.length < MOST_SIGHTINGS || isRenewed(sighting.spot)) list.push(sighting)
      sightings.set(sighting.value, list)
    }
  }
  return sightings
}
