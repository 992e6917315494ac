import type { RecordedTurns } from '../tape/turn-store.ts'
import { eachSaid, TapeMessage, type Said } from './messages.ts'
import { SentWords } from './sent-words.ts'
import { eachWord } from './words-in.ts'

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
  let frame = 0
  const note = (word: number): void => words.sent(word, frame)
  eachSaid(turns, 'c2s', (said) => {
    frame = said.spoken.n
    const isPlain = eachWord(said, note)
    if (!isPlain || hasDate(said)) worthy.push(new TapeMessage(said, turns))
  })
  return worthy
}

function sayingWhatIsSentLater(turns: RecordedTurns, words: SentWords): readonly TapeMessage[] {
  const worthy: TapeMessage[] = []
  let [frame, isTelling] = [0, false]
  const look = (word: number): void => {
    if (words.isSharedAt(word, frame)) isTelling = true
  }
  eachSaid(turns, 's2c', (said) => {
    frame = said.spoken.n
    isTelling = false
    eachWord(said, look)
    if (isTelling) worthy.push(new TapeMessage(said, turns))
  })
  return worthy
}

function sendingWhatWasSaid(turns: RecordedTurns, words: SentWords): readonly TapeMessage[] {
  const worthy: TapeMessage[] = []
  let isShared = false
  const look = (word: number): void => {
    isShared ||= words.isShared(word)
  }
  eachSaid(turns, 'c2s', (said) => {
    isShared = false
    const isPlain = eachWord(said, look)
    if (isShared || !isPlain || hasDate(said)) worthy.push(new TapeMessage(said, turns))
  })
  return worthy
}

const DATE = /\d{4}-\d\d-\d\d/

function hasDate({ spoken }: Said): boolean {
  return DATE.test(spoken.text)
}
