import type { RecordedTurns } from '../tape/turn-store.ts'
import { eachSaid, TapeMessage, type Said } from './messages.ts'
import { SaidWords } from './said-words.ts'
import { SentWords } from './sent-words.ts'
import { eachWord } from './words-in.ts'

/**
 * The messages that a binding can have to do with, in the order in which they were said: those of the server with a word that
 * the client sends later, and those of the client with such a word, or with a date. The closer look costs many times as much,
 * and most messages share no word.
 */
export function worthALook(turns: RecordedTurns): readonly TapeMessage[] {
  const words = { said: new SaidWords(turns.size), sent: new SentWords() }
  const { worthy, isInOrder } = listened(turns, words)
  if (!isInOrder) eachSaid(turns, sentNoter(words))
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
  const note = (word: number): void => words.said.add(word)
  const noteSent = sentNoter(words)
  let [latest, isInOrder] = [0, true]
  eachSaid(turns, (said) => {
    const { n, dir } = said.spoken
    if (dir === 's2c') {
      isInOrder &&= n > latest
      return void eachWord(said, note)
    }
    isInOrder &&= said.part === 0
    latest = Math.max(latest, n)
    if (!noteSent(said) || hasDate(said)) worthy.push(new TapeMessage(said, turns))
  })
  return { worthy, isInOrder }
}

/** Notes what a message of the client sends of what was said before; false when it takes a closer look. */
function sentNoter({ said, sent }: Words): (message: Said) => boolean {
  let frame = 0
  const note = (word: number): void => {
    if (said.mayHold(word)) sent.sent(word, frame)
  }
  return (message) => {
    frame = message.spoken.n
    return message.spoken.dir === 's2c' || eachWord(message, note)
  }
}

function sharingWords(turns: RecordedTurns, sent: SentWords): readonly TapeMessage[] {
  const worthy: TapeMessage[] = []
  let [after, isShared] = [0, false]
  const look = (word: number): void => {
    isShared ||= sent.isSentAfter(word, after)
  }
  eachSaid(turns, (said) => {
    const isClients = said.spoken.dir === 'c2s'
    after = isClients ? 0 : said.spoken.n // what the client says first counts, too: it is its own
    isShared = false
    const isPlain = eachWord(said, look)
    if (isShared || (isClients && (!isPlain || hasDate(said)))) worthy.push(new TapeMessage(said, turns))
  })
  return worthy
}

const DATE = /\d{4}-\d\d-\d\d/

function hasDate({ spoken }: Said): boolean {
  return DATE.test(spoken.text)
}
