import type { MessageProducer, ValueLocation } from '../binding.ts'
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

/** A location where the server sent a value that the client sends later. */
export interface ProducerCandidate {
  readonly value: string
  readonly message: TapeMessage
  readonly names: LocationNames
  /** `member`: the value is a leaf. `nested`: it is inside JSON or base64 in a text. `token`: it is a part of a text. */
  readonly form: 'member' | 'nested' | 'token'
  /** The location of the leaf. For a token, `piece` is its range in the text of the leaf. */
  readonly location: ValueLocation
  readonly piece?: TextPiece
}

/** Finds wanted values in a message of the server. Tokens for which `isFull` returns true are left out. */
export function producerCandidatesIn(
  message: TapeMessage,
  wanted: SentValueScanner,
  isFull: (value: string) => boolean,
): readonly ProducerCandidate[] {
  return messageValues(message.recorded.text)
    .filter((value) => mayProduce(value, message))
    .flatMap((value) => [
      ...wholeCandidates(value, message, wanted),
      ...tokenCandidates(value, message, wanted, isFull),
    ])
}

/**
 * Turns a candidate into the producer of a binding. A token is described so that it can be found again. Returns `undefined` for
 * a token that cannot be found where it was seen, such as the start of a longer path.
 */
export function toProducer(source: ProducerCandidate): MessageProducer | undefined {
  const producer = describeProducer(source)
  const { value, message, piece } = source
  return piece === undefined || readLocation(message.recorded.text, producer) === value ? producer : undefined
}

function describeProducer({ message, location, piece }: ProducerCandidate): MessageProducer {
  const place = { kind: 'message', ...message.place, path: location.path } as const
  if (piece === undefined) return { ...place, inside: location.inside }
  const text = readLocation(message.recorded.text, location) ?? ''
  const token = describeToken(text, piece.start, piece.end)
  return { ...place, inside: [...location.inside, { kind: 'token', token }] }
}

// Lists of tools, prompts and resources are constant, except for cursors and the URIs of resources.
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
      location: { path, inside },
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
    const location = { path, inside }
    return { value: text.slice(piece.start, piece.end), message, names, form: 'token', location, piece }
  })
}

/** The values that the client sent, whole or in parts. Only these are searched for in messages of the server. */
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

  /** Also true for very few values that were not sent. They do no harm, because no consumer looks them up. */
  has(value: string): boolean {
    return this.#values.has(value)
  }

  // A plain word in prose is not a handle, but in a composite it may be one of the parts.
  #addPiece(piece: string, inProse: boolean): false {
    const distinct = distinctnessOf(piece)
    if (distinct === 'strong' || distinct === 'fair' || (distinct === 'weak' && !inProse))
      this.#values.add(piece)
    return false
  }
}

// Most texts consist of the same words, so the pieces of each word are cached. The cache is cleared when it is full.
const MOST_KNOWN = 20_000
const LONGEST_KNOWN = 100

/** Finds sent values in texts. Plain words are left out, because they are not handles. */
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
