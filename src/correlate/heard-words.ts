import type { RecordedTurns } from '../tape/turn-store.ts'
import { Hashes } from './hashes.ts'
import { eachSaid, type Said } from './messages.ts'
import { listWords } from './words-in.ts'

/** A message by its words. */
export interface Heard {
  /** Its turn, its place in there and its frame. */
  readonly place: number
  readonly part: number
  readonly frame: number
  readonly isClients: boolean
  /** Whether it is worth a look whatever its words are: a message of the client with a date, or with texts inside of texts. */
  readonly isWorthy: boolean
  readonly hashes: Hashes
}

type Visit = (heard: Heard) => void

/** The words of a tape, message by message, as often as they are asked for. */
export class HeardWords {
  readonly #turns: RecordedTurns
  #kept: Kept | undefined
  #isRead = false

  constructor(turns: RecordedTurns) {
    this.#turns = turns
  }

  /** The hashes that are given out stand there until the next message. */
  each(visit: Visit): void {
    if (this.#kept !== undefined) return eachKept(this.#kept, visit)
    const kept = this.#isRead ? undefined : new Kept(this.#turns.size)
    const hashes = new Hashes()
    eachSaid(this.#turns, (said) => {
      const heard = heardIn(said, hashes)
      kept?.add(heard)
      visit(heard)
    })
    this.#isRead = true
    if (kept?.isWhole === true) this.#kept = kept
  }
}

const WORDS_PER_TURN = 16
const MESSAGES_PER_TURN = 4
// Ten megabytes in all: a tape with more to it is read again instead.
const MOST_WORDS = 2 ** 20
const MOST_MESSAGES = 2 ** 18
const FEW = 1024

/** A few numbers for each message, and one for each word. */
class Kept {
  readonly hashes: Uint32Array
  readonly ends: Uint32Array
  readonly places: Uint32Array
  readonly parts: Uint32Array
  readonly frames: Float64Array
  readonly kinds: Uint8Array
  size = 0
  isWhole = true
  #words = 0

  /** For about so many turns. */
  constructor(turns: number) {
    const messages = Math.min(turns * MESSAGES_PER_TURN + FEW, MOST_MESSAGES)
    this.hashes = new Uint32Array(Math.min(turns * WORDS_PER_TURN + FEW, MOST_WORDS))
    this.ends = new Uint32Array(messages)
    this.places = new Uint32Array(messages)
    this.parts = new Uint32Array(messages)
    this.frames = new Float64Array(messages)
    this.kinds = new Uint8Array(messages)
  }

  add({ place, part, frame, isClients, isWorthy, hashes }: Heard): void {
    this.isWhole &&= this.#words + hashes.size <= this.hashes.length && this.size < this.ends.length
    if (!this.isWhole) return
    for (let word = 0; word < hashes.size; word++) this.hashes[this.#words++] = hashes.at(word)
    const at = this.size++
    this.ends[at] = this.#words
    this.places[at] = place
    this.parts[at] = part
    this.frames[at] = frame
    this.kinds[at] = (isClients ? CLIENTS : 0) | (isWorthy ? WORTHY : 0)
  }
}

const [CLIENTS, WORTHY] = [1, 2]

function eachKept({ hashes: words, ends, places, parts, frames, kinds, size }: Kept, visit: Visit): void {
  const hashes = new Hashes()
  for (let at = 0, next = 0; at < size; at++) {
    hashes.clear()
    for (const end = ends[at] ?? 0; next < end; next++) hashes.add(words[next] ?? 0)
    const kind = kinds[at] ?? 0
    visit({
      place: places[at] ?? 0,
      part: parts[at] ?? 0,
      frame: frames[at] ?? 0,
      isClients: (kind & CLIENTS) > 0,
      isWorthy: (kind & WORTHY) > 0,
      hashes,
    })
  }
}

function heardIn(said: Said, hashes: Hashes): Heard {
  const { place, part, spoken } = said
  const isPlain = listWords(said, hashes)
  const isClients = spoken.dir === 'c2s'
  const isWorthy = isClients && (!isPlain || hasDate(spoken.text))
  return { place, part, frame: spoken.n, isClients, isWorthy, hashes }
}

const DATE = /\d{4}-\d\d-\d\d/

function hasDate(text: string): boolean {
  return text.includes('-') && DATE.test(text)
}
