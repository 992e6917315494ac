import type { RecordedTurns } from '../tape/turn-store.ts'
import type { Hashes } from './hashes.ts'
import { HeardWords, type Heard } from './heard-words.ts'
import { saidAt, TapeMessage } from './messages.ts'
import { SaidWords } from './said-words.ts'
import { SentWords } from './sent-words.ts'

/**
 * The messages that a binding can have to do with, in the order in which they were said: those of the server with a word that
 * the client sends later, and those of the client with such a word, or with a date. The closer look costs many times as much,
 * and most messages share no word.
 */
export function worthALook(turns: RecordedTurns): readonly TapeMessage[] {
  const heard = new HeardWords(turns)
  const words = { said: new SaidWords(turns.size), sent: new SentWords() }
  const { worthy, isInOrder } = listened(heard, words)
  if (!isInOrder) heard.each((one) => noteSent(one, words))
  const sharing = words.sent.isEmpty ? worthy : (sharingWords(heard, words.sent) ?? worthy)
  const messages = sharing.map(({ place, part }) => new TapeMessage(saidAt(turns, place, part), turns))
  return messages.toSorted((a, b) => a.n - b.n || (a.item ?? 0) - (b.item ?? 0))
}

interface Words {
  /** What the server says. */
  readonly said: SaidWords
  /** What of it the client sends later. */
  readonly sent: SentWords
}

/** Where a message stands. */
type Found = Pick<Heard, 'place' | 'part'>

interface Listened {
  /** The messages of the client that are worth a look for themselves. */
  readonly worthy: readonly Found[]
  /** Whether all that the server had said before was known whenever the client spoke. */
  readonly isInOrder: boolean
}

/** Notes the words. Turns come in the order in which the client began them, and what it answers inside of one may be later. */
function listened(heard: HeardWords, words: Words): Listened {
  const worthy: Found[] = []
  let [latest, isInOrder] = [0, true]
  heard.each((one) => {
    const { place, part, frame, isClients, isWorthy, hashes } = one
    if (!isClients) {
      isInOrder &&= frame > latest
      for (let word = 0; word < hashes.size; word++) words.said.add(hashes.at(word))
      return
    }
    isInOrder &&= part === 0
    latest = Math.max(latest, frame)
    noteSent(one, words)
    if (isWorthy) worthy.push({ place, part })
  })
  return { worthy, isInOrder }
}

/** Notes what the client sends of what was said before. */
function noteSent({ isClients, frame, hashes }: Heard, { said, sent }: Words): void {
  if (!isClients) return
  for (let word = 0; word < hashes.size; word++)
    if (said.mayHold(hashes.at(word))) sent.sent(hashes.at(word), frame)
}

/** With those that are worthy for themselves; undefined when the server said nothing that was sent later. */
function sharingWords(heard: HeardWords, sent: SentWords): readonly Found[] | undefined {
  const sharing: Found[] = []
  let isTold = false
  heard.each(({ place, part, frame, isClients, isWorthy, hashes }) => {
    const after = isClients ? 0 : frame // what the client says first counts, too: it is its own
    if (!isWorthy && !isAnySentAfter(hashes, after, sent)) return
    isTold ||= !isClients
    sharing.push({ place, part })
  })
  return isTold ? sharing : undefined
}

function isAnySentAfter(hashes: Hashes, frame: number, sent: SentWords): boolean {
  for (let word = 0; word < hashes.size; word++) if (sent.isSentAfter(hashes.at(word), frame)) return true
  return false
}
