import type { RecordedTurns } from '../tape/turn-store.ts'
import { eachSaid, TapeMessage, type Said } from './messages.ts'
import { SentWords } from './sent-words.ts'
import type { Hashes } from './word-hashes.ts'
import { listWords } from './words-in.ts'

/**
 * The messages that a binding can have to do with, in the order in which they were said: those of the server with a word that
 * the client sends later, and those of the client with such a word, or with a date. The closer look costs many times as much,
 * and most messages share no word.
 */
export function worthALook(turns: RecordedTurns): readonly TapeMessage[] {
  const words = new SentWords(turns.size)
  const sent = noteSent(turns, words)
  const said = sayingWhatIsSentLater(turns, words)
  const worthy = [...said, ...(said.length === 0 ? sent : sendingWhatWasSaid(turns, words))]
  return worthy.toSorted((a, b) => a.n - b.n || (a.item ?? 0) - (b.item ?? 0))
}

/** The messages of the client that are worth a look for themselves. */
function noteSent(turns: RecordedTurns, words: SentWords): readonly TapeMessage[] {
  const worthy: TapeMessage[] = []
  const hashes: Hashes = []
  eachSaid(turns, 'c2s', (said) => {
    hashes.length = 0
    const isPlain = listWords(said, hashes)
    for (const hash of hashes) words.sent(hash, said.spoken.n)
    if (!isPlain || hasDate(said)) worthy.push(new TapeMessage(said, turns))
  })
  return worthy
}

function sayingWhatIsSentLater(turns: RecordedTurns, words: SentWords): readonly TapeMessage[] {
  const worthy: TapeMessage[] = []
  const hashes: Hashes = []
  eachSaid(turns, 's2c', (said) => {
    hashes.length = 0
    listWords(said, hashes)
    let isTelling = false
    for (const hash of hashes) if (words.isSharedAt(hash, said.spoken.n)) isTelling = true
    if (isTelling) worthy.push(new TapeMessage(said, turns))
  })
  return worthy
}

function sendingWhatWasSaid(turns: RecordedTurns, words: SentWords): readonly TapeMessage[] {
  const worthy: TapeMessage[] = []
  const hashes: Hashes = []
  eachSaid(turns, 'c2s', (said) => {
    hashes.length = 0
    const isPlain = listWords(said, hashes)
    const isShared = hashes.some((hash) => words.isShared(hash))
    if (isShared || !isPlain || hasDate(said)) worthy.push(new TapeMessage(said, turns))
  })
  return worthy
}

const DATE = /\d{4}-\d\d-\d\d/

function hasDate({ spoken }: Said): boolean {
  return spoken.text.includes('-') && DATE.test(spoken.text)
}
