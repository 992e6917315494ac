import { recordedTurns, type RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { Correlation } from './binding.ts'
import { detached } from './detached.ts'
import { Finder } from './finder.ts'
import type { TapeMessage } from './messages.ts'
import { isRenewed } from './protocol-pairs.ts'
import { SchemaValues } from './schema-values.ts'
import { sightingsIn, type Sighting } from './sightings.ts'
import { usesIn } from './uses.ts'
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
  const schemas = new SchemaValues(turns)
  const finderOf = (sightings: Sightings): Finder =>
    new Finder({ sightings, schemas, started: started === undefined ? undefined : Date.parse(started) })
  const wholes = addSightings(new Map(), messages, wantedWholes(sent))
  const pieces = wantedPieces(sent, finderOf(wholes))
  const finder = finderOf(pieces.isEmpty ? wholes : addSightings(wholes, messages, pieces))
  for (const message of sent) finder.look(usesIn(message))
  return finder.found.correlation()
}

function wantedWholes(sent: readonly TapeMessage[]): Wanted {
  const wanted = new Wanted()
  for (const message of sent) for (const use of usesIn(message)) wanted.add(use)
  return wanted
}

/** What stands inside of a leaf that is bound as a whole is not wanted: a uuid has fifteen parts, and many share one with another. */
function wantedPieces(sent: readonly TapeMessage[], finder: Finder): Wanted {
  const wanted = new Wanted()
  for (const message of sent) for (const use of finder.openIn(usesIn(message))) wanted.addPieces(use)
  return wanted
}

type Sightings = ReadonlyMap<string, readonly Sighting[]>

// The first places count, and of what is renewed with each answer the last: a handle that every answer repeats costs no more.
const MOST_SIGHTINGS = 100

/** Adds where the server said what is wanted, if that is not known already. */
function addSightings(known: Sightings, messages: readonly TapeMessage[], values: Wanted): Sightings {
  const wanted = new WantedPieces(values)
  const sightings = new Map<string, Sighting[]>()
  const isFull = (value: string): boolean =>
    known.has(value) || (sightings.get(value)?.length ?? 0) >= MOST_SIGHTINGS
  for (const message of messages) {
    if (message.dir === 'c2s') continue
    for (const sighting of sightingsIn(message, wanted, isFull)) {
      if (known.has(sighting.value)) continue
      const list = sightings.get(sighting.value) ?? []
      if (list.length >= MOST_SIGHTINGS && !isRenewed(sighting.spot)) continue
      const kept = alone(sighting)
      list.push(kept)
      if (list.length === 1) sightings.set(kept.value, list)
    }
  }
  return known.size === 0 ? sightings : new Map([...known, ...sightings])
}

function alone({ message, ...seen }: Sighting): Sighting {
  return { message, ...detached(seen) }
}
