import { WordHashList, collectMessageHashes } from './message-words.ts'
import { WordBloomFilter, LastSentWords } from './word-sets.ts'
import { turnMessageAt, TapeMessage, forEachTurnMessage, type TurnMessage } from '../tape-messages.ts'
import type { TurnStore } from '../../tape/turns.ts'

/**
 * The messages that a binding can have to do with, in the order in which they were said: those of the server with a word that
 * the client sends later, and those of the client with such a word, or with a date. The closer look costs many times as much,
 * and most messages share no word.
 */
export function findCandidateMessages(turns: TurnStore): readonly TapeMessage[] {
  const heard = new TapeWords(turns)
  const words = { said: new WordBloomFilter(turns.size), sent: new LastSentWords() }
  const { candidates, isInOrder } = collectWords(heard, words)
  if (!isInOrder) heard.each((one) => noteSentWords(one, words))
  const sharing = words.sent.isEmpty ? candidates : (messagesSharingWords(heard, words.sent) ?? candidates)
  const messages = sharing.map(({ place, part }) => new TapeMessage(turnMessageAt(turns, place, part), turns))
  return messages.toSorted((a, b) => a.n - b.n || (a.item ?? 0) - (b.item ?? 0))
}

interface ExchangedWords {
  /** What the server says. */
  readonly said: WordBloomFilter
  /** What of it the client sends later. */
  readonly sent: LastSentWords
}

/** Where a message stands. */
type MessagePosition = Pick<MessageWords, 'place' | 'part'>

interface CollectedWords {
  /** The messages of the client that are worth a look for themselves. */
  readonly candidates: readonly MessagePosition[]
  /** Whether all that the server had said before was known whenever the client spoke. */
  readonly isInOrder: boolean
}

/** Notes the words. Turns come in the order in which the client began them, and what it answers inside of one may be later. */
function collectWords(heard: TapeWords, words: ExchangedWords): CollectedWords {
  const candidates: MessagePosition[] = []
  let [latest, isInOrder] = [0, true]
  heard.each((one) => {
    const { place, part, frame, isFromClient, isAlwaysCandidate, hashes } = one
    if (!isFromClient) {
      isInOrder &&= frame > latest
      for (let word = 0; word < hashes.size; word++) words.said.add(hashes.at(word))
      return
    }
    isInOrder &&= part === 0
    latest = Math.max(latest, frame)
    noteSentWords(one, words)
    if (isAlwaysCandidate) candidates.push({ place, part })
  })
  return { candidates, isInOrder }
}

/** Notes what the client sends of what was said before. */
function noteSentWords({ isFromClient, frame, hashes }: MessageWords, { said, sent }: ExchangedWords): void {
  if (!isFromClient) return
  for (let word = 0; word < hashes.size; word++)
    if (said.mayHold(hashes.at(word))) sent.markSent(hashes.at(word), frame)
}

/** With those that are worthy for themselves; undefined when the server said nothing that was sent later. */
function messagesSharingWords(heard: TapeWords, sent: LastSentWords): readonly MessagePosition[] | undefined {
  const sharing: MessagePosition[] = []
  let isTold = false
  heard.each(({ place, part, frame, isFromClient, isAlwaysCandidate, hashes }) => {
    const after = isFromClient ? 0 : frame // what the client says first counts, too: it is its own
    if (!isAlwaysCandidate && !isAnyWordSentAfter(hashes, after, sent)) return
    isTold ||= !isFromClient
    sharing.push({ place, part })
  })
  return isTold ? sharing : undefined
}

function isAnyWordSentAfter(hashes: WordHashList, frame: number, sent: LastSentWords): boolean {
  for (let word = 0; word < hashes.size; word++) if (sent.isSentAfter(hashes.at(word), frame)) return true
  return false
}

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
  readonly #turns: TurnStore
  #kept: WordCache | undefined
  #isRead = false

  constructor(turns: TurnStore) {
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
