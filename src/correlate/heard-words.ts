import type { RecordedTurns } from '../tape/turn-store.ts'
import { WordHashList } from './hashes.ts'
import { forEachTurnMessage, type TurnMessage } from '../bindings/tape-messages.ts'
import { collectMessageHashes } from '../bindings/find/message-words.ts'

/** A message by its words. */
export interface MessageWords {
  /** Its turn, its place in there and its frame. */
  readonly place: number
  readonly part: number
  readonly frame: number
  readonly isFromClient: boolean
  /** Whether it is worth a look whatever its words are: a message of the client with a date, or with texts inside of texts. */
  readonly isAlwaysCandidate: boolean
  readonly hashes: WordHashList
}

type VisitMessageWords = (heard: MessageWords) => void

/** The words of a tape, message by message, as often as they are asked for. */
export class TapeWords {
  readonly #turns: RecordedTurns
  #kept: WordCache | undefined
  #isRead = false

  constructor(turns: RecordedTurns) {
    this.#turns = turns
  }

  /** What is given out stands there until the next message. */
  each(visit: VisitMessageWords): void {
    if (this.#kept !== undefined) return forEachCached(this.#kept, visit)
    const kept = this.#isRead ? undefined : new WordCache(this.#turns.size)
    const heard = new MessageWordsCursor()
    forEachTurnMessage(this.#turns, (said) => {
      heard.read(said)
      kept?.add(heard)
      visit(heard)
    })
    this.#isRead = true
    if (kept?.isComplete === true) this.#kept = kept
  }
}

/** One message after the other: there are as many of them as the tape is long. */
class MessageWordsCursor implements MessageWords {
  place = 0
  part = 0
  frame = 0
  isFromClient = false
  isAlwaysCandidate = false
  readonly hashes: WordHashList = new WordHashList()

  read(said: TurnMessage): void {
    const isPlain = collectMessageHashes(said, this.hashes)
    this.place = said.place
    this.part = said.part
    this.frame = said.spoken.n
    this.isFromClient = said.spoken.dir === 'c2s'
    this.isAlwaysCandidate = this.isFromClient && (!isPlain || this.hashes.hasDate)
  }

  restore({ hashes, ends, places, parts, frames, kinds }: WordCache, at: number): void {
    this.hashes.clear()
    const end = ends[at] ?? 0
    for (let word = ends[at - 1] ?? 0; word < end; word++) this.hashes.add(hashes[word] ?? 0)
    this.place = places[at] ?? 0
    this.part = parts[at] ?? 0
    this.frame = frames[at] ?? 0
    this.isFromClient = ((kinds[at] ?? 0) & CLIENTS) > 0
    this.isAlwaysCandidate = ((kinds[at] ?? 0) & WORTHY) > 0
  }
}

function forEachCached(kept: WordCache, visit: VisitMessageWords): void {
  const heard = new MessageWordsCursor()
  for (let at = 0; at < kept.size; at++) {
    heard.restore(kept, at)
    visit(heard)
  }
}

const WORDS_PER_TURN = 16
const MESSAGES_PER_TURN = 4
// Ten megabytes in all: a tape with more to it is read again instead.
const MOST_WORDS = 2 ** 20
const MOST_MESSAGES = 2 ** 18
const SPARE = 1024

/** A few numbers for each message, and one for each word. */
class WordCache {
  readonly hashes: Int32Array
  readonly ends: Uint32Array
  readonly places: Uint32Array
  readonly parts: Uint32Array
  readonly frames: Float64Array
  readonly kinds: Uint8Array
  size = 0
  isComplete = true
  #words = 0

  /** For about so many turns. */
  constructor(turns: number) {
    const messages = Math.min(turns * MESSAGES_PER_TURN + SPARE, MOST_MESSAGES)
    this.hashes = new Int32Array(Math.min(turns * WORDS_PER_TURN + SPARE, MOST_WORDS))
    this.ends = new Uint32Array(messages)
    this.places = new Uint32Array(messages)
    this.parts = new Uint32Array(messages)
    this.frames = new Float64Array(messages)
    this.kinds = new Uint8Array(messages)
  }

  add({ place, part, frame, isFromClient, isAlwaysCandidate, hashes }: MessageWords): void {
    this.isComplete &&= this.#words + hashes.size <= this.hashes.length && this.size < this.ends.length
    if (!this.isComplete) return
    for (let word = 0; word < hashes.size; word++) this.hashes[this.#words++] = hashes.at(word)
    const at = this.size++
    this.ends[at] = this.#words
    this.places[at] = place
    this.parts[at] = part
    this.frames[at] = frame
    this.kinds[at] = (isFromClient ? CLIENTS : 0) | (isAlwaysCandidate ? WORTHY : 0)
  }
}

const [CLIENTS, WORTHY] = [1, 2]
