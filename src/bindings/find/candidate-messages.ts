import { WordHashList, collectMessageHashes } from './message-words.ts'
import { WordFilter } from './word-sets.ts'
import { messagesAt, triggerAt, TapeMessage } from '../tape-messages.ts'
import type { TurnStore } from '../../tape/turns.ts'

/**
 * Returns the messages that may be part of a binding, in recorded order: messages of the server with a word that the client
 * sends later, and messages of the client with such a word, with a date or with JSON in a text. Most messages share no word
 * with others, and searching them for values would take many times as long.
 *
 * The tape is read from its end, so the words that the client sends later are known when a message of the server is read.
 */
export function findCandidateMessages(turns: TurnStore): readonly TapeMessage[] {
  const words = { sentLater: new WordFilter(), returned: new WordFilter() }
  const candidates = [
    ...answersOfClient(turns, words),
    ...messagesFromEnd(turns, words),
    ...triggersWithReturnedWord(turns, words),
  ]
  return candidates.toSorted((a, b) => a.n - b.n || (a.item ?? 0) - (b.item ?? 0))
}

interface TapeWords {
  /** Words that the client sends after the messages that are read next. */
  readonly sentLater: WordFilter
  /** Words of the server that the client sends later. */
  readonly returned: WordFilter
}

/**
 * The client's answers to requests of the server. They are collected first, because an answer can be later than messages of the
 * turns after its own. All of them are candidates, because they are few.
 */
function answersOfClient(turns: TurnStore, { sentLater }: TapeWords): readonly TapeMessage[] {
  const answers: TapeMessage[] = []
  const hashes = new WordHashList()
  for (let place = 0; place < turns.size; place++) {
    if (!turns.summary(place).hasSteps) continue
    for (const message of messagesAt(turns, place)) {
      if (message.part === 0 || message.recorded.dir === 's2c') continue
      collectMessageHashes(message, hashes)
      sentLater.addAll(hashes)
      answers.push(new TapeMessage(message, turns))
    }
  }
  return answers
}

/** The messages of the server with a word that is sent later, and the triggers that are candidates whatever their words are. */
function messagesFromEnd(turns: TurnStore, { sentLater, returned }: TapeWords): readonly TapeMessage[] {
  const candidates: TapeMessage[] = []
  const hashes = new WordHashList()
  for (let place = turns.size - 1; place >= 0; place--) {
    for (const message of messagesAt(turns, place).toReversed()) {
      const isPlain = collectMessageHashes(message, hashes)
      if (message.recorded.dir === 's2c') {
        if (addReturnedWords(hashes, sentLater, returned)) candidates.push(new TapeMessage(message, turns))
      } else if (message.part === 0) {
        sentLater.addAll(hashes)
        if (!isPlain || hashes.hasDate) candidates.push(new TapeMessage(message, turns))
      }
    }
  }
  return candidates
}

function addReturnedWords(hashes: WordHashList, sentLater: WordFilter, returned: WordFilter): boolean {
  let isAnyReturned = false
  for (let index = 0; index < hashes.size; index++) {
    if (!sentLater.mayHave(hashes.at(index))) continue
    returned.add(hashes.at(index))
    isAnyReturned = true
  }
  return isAnyReturned
}

/**
 * The other triggers that have a returned word. Triggers before the message of the server count as well: they show that a value
 * is the client's own.
 */
function triggersWithReturnedWord(turns: TurnStore, { returned }: TapeWords): readonly TapeMessage[] {
  if (returned.isEmpty) return []
  const triggers: TapeMessage[] = []
  const hashes = new WordHashList()
  for (let place = 0; place < turns.size; place++) {
    const message = triggerAt(turns, place)
    if (message === undefined) continue
    const isPlain = collectMessageHashes(message, hashes)
    if (isPlain && !hashes.hasDate && returned.mayHaveAny(hashes))
      triggers.push(new TapeMessage(message, turns))
  }
  return triggers
}
