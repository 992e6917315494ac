import type { TapeMessage } from './messages.ts'
import { eachWord } from './words-in.ts'

/**
 * The messages that a binding can have to do with: those of the server with a word that the client sends later, and those of
 * the client with such a word, or with a date. The closer look costs many times as much, and most messages share no word.
 */
export function worthALook(messages: readonly TapeMessage[]): readonly TapeMessage[] {
  const said = messages.filter(({ spoken }) => spoken.dir === 's2c')
  const sent = messages.filter(({ spoken }) => spoken.dir === 'c2s')
  const lastSent = lastSendings(sent)
  const shared = new Set<string>()
  const worthy = new Set(said.filter((message) => tells(message, lastSent, shared)))
  for (const message of sent) if (sends(message, shared)) worthy.add(message)
  return messages.filter((message) => worthy.has(message))
}

/** The last frame in which the client sent each word. */
function lastSendings(sent: readonly TapeMessage[]): ReadonlyMap<string, number> {
  const last = new Map<string, number>()
  for (const message of sent) eachWord(message, (word) => last.set(word, message.spoken.n))
  return last
}

function tells(message: TapeMessage, lastSent: ReadonlyMap<string, number>, shared: Set<string>): boolean {
  let isTelling = false
  eachWord(message, (word) => {
    if ((lastSent.get(word) ?? 0) <= message.spoken.n) return
    shared.add(word)
    isTelling = true
  })
  return isTelling
}

const DATE = /\d{4}-\d\d-\d\d/

function sends(message: TapeMessage, shared: ReadonlySet<string>): boolean {
  let isShared = false
  const isPlain = eachWord(message, (word) => {
    isShared ||= shared.has(word)
  })
  return isShared || !isPlain || DATE.test(message.spoken.text)
}
