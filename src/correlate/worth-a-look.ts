import type { RecordedTurns } from '../tape/turn-store.ts'
import { eachSaid, TapeMessage, type Said } from './messages.ts'
import { SaidWords } from './said-words.ts'
import { SentWords } from './sent-words.ts'
import type { Hashes } from './word-hashes.ts'
import { listWords } from './words-in.ts'

/**
 * The messages that a binding can have to do with, in the order in which they were said: those of the server with a word that
 * the client sends later, and those of the client with such a word, or with a date. The closer look costs many times as much,
 * and most messages share no word.
 */
export function worthALook(turns: RecordedTurns): readonly TapeMessage[] {
  const words = { said: new SaidWords(turns.size), sent: new SentWords() }
  const { worthy, isInOrder } = listened(turns, words)
  if (!isInOrder) noteAllSent(turns, words)
  const sharing = words.sent.isEmpty ? worthy : sharingWords(turns, words.sent)
  return sharing.toSorted((a, b) => a.n - b.n || (a.item ?? 0) - (b.item ?? 0))
}

interface Words {
  /** What the server says. */
  readonly said: SaidWords
  /** What of it the client sends later. */
  readonly sent: SentWords
}

interface Listened {
  /** The messages of the client that are worth a look for themselves. */
  readonly worthy: readonly TapeMessage[]
  /** Whether all that the server had said before was known whenever the client spoke. */
  readonly isInOrder: boolean
}

/** Notes the words. Turns come in the order in which the client began them, and what it answers inside of one may be later. */
function listened(turns: RecordedTurns, words: Words): Listened {
  const worthy: TapeMessage[] = []
  const hashes: Hashes = []
  let [latest, isInOrder] = [0, true]
  eachSaid(turns, (said) => {
    const { n, dir } = said.spoken
    const isPlain = listWords(said, hashes)
    if (dir === 's2c') {
      isInOrder &&= n > latest
      for (const hash of hashes) words.said.add(hash)
      return
    }
    isInOrder &&= said.part === 0
    latest = Math.max(latest, n)
    noteSent(hashes, n, words)
    if (!isPlain || hasDate(said)) worthy.push(new TapeMessage(said, turns))
  })
  return { worthy, isInOrder }
}

/** Notes what the client sends of what was said before. */
function noteSent(hashes: Hashes, frame: number, { said, sent }: Words): void {
  for (const hash of hashes) if (said.mayHold(hash)) sent.sent(hash, frame)
}

function noteAllSent(turns: RecordedTurns, words: Words): void {
  const hashes: Hashes = []
  eachSaid(turns, (said) => {
    if (said.spoken.dir === 's2c') return
    listWords(said, hashes)
    noteSent(hashes, said.spoken.n, words)
  })
}

function sharingWords(turns: RecordedTurns, sent: SentWords): readonly TapeMessage[] {
  const worthy: TapeMessage[] = []
  const hashes: Hashes = []
  eachSaid(turns, (said) => {
    const isClients = said.spoken.dir === 'c2s'
    const after = isClients ? 0 : said.spoken.n // what the client says first counts, too: it is its own
    const isPlain = listWords(said, hashes)
    const isShared = hashes.some((hash) => sent.isSentAfter(hash, after))
    if (isShared || (isClients && (!isPlain || hasDate(said)))) worthy.push(new TapeMessage(said, turns))
  })
  return worthy
}

const DATE = /\d{4}-\d\d-\d\d/

function hasDate({ spoken }: Said): boolean {
  return spoken.text.includes('-') && DATE.test(spoken.text)
}
