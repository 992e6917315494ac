import type { BindingProducer, ValueLocation } from '../binding.ts'
import {
  distinctnessOf,
  isNumericText,
  labelWordsBefore,
  type TextPiece,
  messageValues,
  type MessageValue,
  findPiecesByWord,
  findPiecesInWord,
} from '../values.ts'
import { consumerPieces, type ConsumerCandidate } from './consumer-candidates.ts'
import { TextHashSet } from './word-sets.ts'
import { readLocation, describeToken } from '../location.ts'
import { type LocationNames, namesAtLocation, namesFromLabel } from '../names.ts'
import type { TapeMessage } from '../tape-messages.ts'

type MessageProducer = Extract<BindingProducer, { kind: 'message' }>

/** One place where the server said a value that the client sent later. */
export interface ProducerCandidate {
  readonly value: string
  readonly message: TapeMessage
  readonly names: LocationNames
  /** How the value stands there: as a member of its own, inside JSON or base64 in a text, or among words. */
  readonly form: 'member' | 'nested' | 'token'
  /** Where the text stands that holds it, and where in that text when it is a token. */
  readonly spot: ValueLocation
  readonly piece?: TextPiece
}

/** `isFull` says of which values no more need be seen. */
export function producerCandidatesIn(
  message: TapeMessage,
  wanted: SentValueScanner,
  isFull: (value: string) => boolean,
): readonly ProducerCandidate[] {
  return messageValues(message.spoken.text)
    .filter((value) => mayProduce(value, message))
    .flatMap((value) => [
      ...wholeCandidates(value, message, wanted),
      ...tokenCandidates(value, message, wanted, isFull),
    ])
}

/**
 * Turns a sighting into the producer of a binding. A token is described so that it can be found again. Returns `undefined` for
 * a token that cannot be found where it was seen, such as the start of a longer path.
 */
export function toProducer(sighting: ProducerCandidate): BindingProducer | undefined {
  const producer = describeProducer(sighting)
  const { value, message, piece } = sighting
  return piece === undefined || readLocation(message.spoken.text, producer) === value ? producer : undefined
}

function describeProducer({ message, spot, piece }: ProducerCandidate): MessageProducer {
  const { turn, n, item } = message
  const place = {
    kind: 'message',
    turn,
    frame: n,
    ...(item === undefined ? {} : { item }),
    path: spot.path,
  } as const
  if (piece === undefined) return { ...place, inside: spot.inside }
  const text = readLocation(message.spoken.text, spot) ?? ''
  const token = describeToken(text, piece.start, piece.end)
  return { ...place, inside: [...spot.inside, { kind: 'token', token }] }
}

// What a server lists of itself is constant, but for the cursor; of its resources the addresses are handles.
const PRODUCING_LIST_MEMBERS: Readonly<Record<string, readonly string[]>> = Object.assign(
  Object.create(null),
  {
    'tools/list': ['nextCursor'],
    'prompts/list': ['nextCursor'],
    'resources/templates/list': ['nextCursor'],
    'resources/list': ['nextCursor', 'uri'],
  },
)

function mayProduce({ path }: MessageValue, { method }: TapeMessage): boolean {
  const [root, first] = path
  if (root !== 'result' && root !== 'params' && root !== 'error') return false
  if (first === '_meta') return path.includes('taskId')
  return PRODUCING_LIST_MEMBERS[method]?.includes(String(path.at(-1))) ?? true
}

function wholeCandidates(
  value: MessageValue,
  message: TapeMessage,
  wanted: SentValueScanner,
): readonly ProducerCandidate[] {
  const { text, path, inside } = value
  if (!wanted.has(text)) return []
  const form = inside.some(({ kind }) => kind !== 'key') ? 'nested' : 'member'
  return [
    {
      value: text,
      message,
      names: namesAtLocation(path, inside, message.subjectWords),
      form,
      spot: { path, inside },
    },
  ]
}

function tokenCandidates(
  value: MessageValue,
  message: TapeMessage,
  wanted: SentValueScanner,
  isFull: (value: string) => boolean,
): readonly ProducerCandidate[] {
  const { text, path, inside, opened } = value
  if (opened || inside[0]?.kind === 'key') return []
  const isMeant = ({ start, end }: TextPiece): boolean =>
    end - start < text.length && !isFull(text.slice(start, end))
  const pieces = wanted.findIn(text).filter(isMeant)
  if (pieces.length === 0) return []
  const outer = namesAtLocation(path, inside, message.subjectWords)
  return pieces.map((piece) => {
    const names = namesFromLabel(outer, labelWordsBefore(text, piece.start))
    const spot = { path, inside }
    return { value: text.slice(piece.start, piece.end), message, names, form: 'token', spot, piece }
  })
}

/** What the client sent somewhere, whole or as a part: only that is worth a look in what the server said. */
export class SentValues {
  readonly #values = new TextHashSet()

  get isEmpty(): boolean {
    return this.#values.isEmpty
  }

  add({ value, pair }: ConsumerCandidate): void {
    if (pair !== undefined || distinctnessOf(value) !== 'none') this.#values.add(value)
  }

  addPieces(whole: ConsumerCandidate): void {
    const inProse = /\s/.test(whole.value)
    consumerPieces(whole, (piece) => this.#addPiece(piece, inProse))
  }

  /** True for little else, which is never looked up by its text. */
  has(value: string): boolean {
    return this.#values.has(value)
  }

  // Among words a plain word means nothing; in a composite it may be one of the parts.
  #addPiece(piece: string, inProse: boolean): false {
    const distinct = distinctnessOf(piece)
    if (distinct === 'strong' || distinct === 'fair' || (distinct === 'weak' && !inProse))
      this.#values.add(piece)
    return false
  }
}

// Texts are made of few words: each is taken apart once. A tape with very many has them forgotten now and then.
const MOST_KNOWN = 20_000
const LONGEST_KNOWN = 100

/** Finds in texts what is wanted as a token: a plain word among words is never taken for a handle. */
export class SentValueScanner {
  readonly #values: SentValues
  readonly #known = new Map<string, readonly TextPiece[]>()

  constructor(wanted: SentValues) {
    this.#values = wanted
  }

  has(value: string): boolean {
    return this.#values.has(value)
  }

  findIn(text: string): readonly TextPiece[] {
    return findPiecesByWord(text, (word) => this.#inWord(word))
  }

  #inWord(word: string): readonly TextPiece[] {
    const known = this.#known.get(word)
    if (known !== undefined) return known
    const pieces = findPiecesInWord(word, (piece) => this.#values.has(piece) && isDistinctPiece(piece))
    if (this.#known.size >= MOST_KNOWN) this.#known.clear()
    if (word.length <= LONGEST_KNOWN) this.#known.set(word, pieces)
    return pieces
  }
}

function isDistinctPiece(piece: string): boolean {
  return isNumericText(piece) || distinctnessOf(piece) !== 'weak'
}
