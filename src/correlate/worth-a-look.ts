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
  eachSaid(turns, 'c2s', (said) => eachWord(said, (word) => words.sent(word, said.spoken.n)))
  const worthy: TapeMessage[] = []
  eachSaid(turns, 's2c', (said) => {
    if (tells(said, words)) worthy.push(new TapeMessage(said, turns))
  })
  eachSaid(turns, 'c2s', (said) => {
    if (sends(said, words)) worthy.push(new TapeMessage(said, turns))
  })
  return worthy.toSorted((a, b) => a.n - b.n || (a.item ?? 0) - (b.item ?? 0))
}

function tells(said: Said, words: SentWords): boolean {
  let isTelling = false
  eachWord(said, (word) => {
    if (words.isSharedAt(word, said.spoken.n)) isTelling = true
  })
  return isTelling
}

const DATE = /\d{4}-\d\d-\d\d/

function sends(said: Said, words: SentWords): boolean {
  let isShared = false
  const isPlain = eachWord(said, (word) => {
    isShared ||= words.isShared(word)
  })
  return isShared || !isPlain || DATE.test(said.spoken.text)
}
