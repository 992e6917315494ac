import type { Turn } from '../tape/turn.ts'
import type { Correlation } from './binding.ts'
import { ClientWords } from './client-words.ts'
import { Finder } from './finder.ts'
import { messagesOf, type TapeMessage } from './messages.ts'
import { isRenewed } from './protocol-pairs.ts'
import { SchemaValues } from './schema-values.ts'
import { sightingsIn, type Sighting } from './sightings.ts'
import { usesIn } from './uses.ts'
import { Wanted } from './wanted.ts'
import { worthALook } from './worth-a-look.ts'

export interface CorrelateOptions {
  /** When the clock of the tape stood at 0, from its header: dates that hang on now are found with it. */
  readonly started?: string
}

/** Finds the values that the server made up and the client sent back, from the tape alone. */
export function correlate(turns: readonly Turn[], { started }: CorrelateOptions = {}): Correlation {
  const messages = worthALook(messagesOf(turns))
  const sent = messages.filter(({ spoken }) => spoken.dir === 'c2s').map(usesIn)
  const sightings = sightingsOf(messages, new Wanted(sent.flat()))
  const finder = new Finder({
    sightings,
    words: new ClientWords(sent.flat(), (value) => sightings.has(value)),
    schemas: new SchemaValues(turns),
    started: started === undefined ? undefined : Date.parse(started),
  })
  for (const uses of sent) finder.look(uses)
  return finder.found.correlation()
}

// The first places count, and of what is renewed with each answer the last: a handle that every answer repeats costs no more.
const MOST_SIGHTINGS = 100

function sightingsOf(
  messages: readonly TapeMessage[],
  wanted: Wanted,
): ReadonlyMap<string, readonly Sighting[]> {
  const sightings = new Map<string, Sighting[]>()
  for (const message of messages) {
    if (message.spoken.dir === 'c2s') continue
    for (const sighting of sightingsIn(message, wanted)) {
      const list = sightings.get(sighting.value) ?? []
      if (list.length < MOST_SIGHTINGS || isRenewed(sighting.spot)) list.push(sighting)
      sightings.set(sighting.value, list)
    }
  }
  return sightings
}
