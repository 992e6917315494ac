import type { RecordedTurns } from '../../tape/turn-store.ts'
import type { WordHashList } from '../../correlate/hashes.ts'
import { TapeWords, type MessageWords } from '../../correlate/heard-words.ts'
import { turnMessageAt, TapeMessage } from '../tape-messages.ts'
import { WordBloomFilter } from './word-sets.ts'
import { LastSentWords } from '../../correlate/sent-words.ts'

/**
 * The messages that a binding can have to do with, in the order in which they were said: those of the server with a word that
 * the client sends later, and those of the client with such a word, or with a date. The closer look costs many times as much,
 * and most messages share no word.
 */
export function findCandidateMessages(turns: RecordedTurns): readonly TapeMessage[] {
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
