import type { Producer, Spot } from './binding.ts'
import type { TapeMessage } from './messages.ts'
import type { Names } from './names.ts'
import { readSpot } from './lens.ts'
import { labelBefore, type Piece } from './pieces.ts'
import { namesAt, namesInText } from './place-names.ts'
import { tokenPlace } from './token-place.ts'
import { valuesIn, type Value } from './values.ts'
import type { WantedPieces } from './wanted-pieces.ts'

type MessageProducer = Extract<Producer, { kind: 'message' }>

/** One place where the server said a value that the client sent later. */
export interface Sighting {
  readonly value: string
  readonly message: TapeMessage
  readonly names: Names
  /** How the value stands there: as a member of its own, inside JSON or base64 in a text, or among words. */
  readonly form: 'member' | 'nested' | 'token'
  /** Where the text stands that holds it, and where in that text when it is a token. */
  readonly spot: Spot
  readonly piece?: Piece
}

/** `isFull` says of which values no more need be seen. */
export function sightingsIn(
  message: TapeMessage,
  wanted: WantedPieces,
  isFull: (value: string) => boolean,
): readonly Sighting[] {
  return valuesIn(message.spoken.text)
    .filter((value) => isProducing(value, message))
    .flatMap((value) => [
      ...wholeSighting(value, message, wanted),
      ...tokenSightings(value, message, wanted, isFull),
    ])
}

/**
 * A sighting as the producer of a binding. A token is described so that it can be found again; one that is not even found
 * where it was seen, such as the head of a longer path, is no producer.
 */
export function producerOf(sighting: Sighting): Producer | undefined {
  const producer = describe(sighting)
  const { value, message, piece } = sighting
  return piece === undefined || readSpot(message.spoken.text, producer) === value ? producer : undefined
}

function describe({ message, spot, piece }: Sighting): MessageProducer {
  const { turn, n, item } = message
  const place = {
    kind: 'message',
    turn,
    frame: n,
    ...(item === undefined ? {} : { item }),
    path: spot.path,
  } as const
  if (piece === undefined) return { ...place, inside: spot.inside }
  const text = readSpot(message.spoken.text, spot) ?? ''
  const token = tokenPlace(text, piece.start, piece.end)
  return { ...place, inside: [...spot.inside, { kind: 'token', token }] }
}

// What a server lists of itself is constant, but for the cursor; of its resources the addresses are handles.
const LISTS: Readonly<Record<string, readonly string[]>> = Object.assign(Object.create(null), {
  'tools/list': ['nextCursor'],
  'prompts/list': ['nextCursor'],
  'resources/templates/list': ['nextCursor'],
  'resources/list': ['nextCursor', 'uri'],
})

function isProducing({ path }: Value, { method }: TapeMessage): boolean {
  const [root, first] = path
  if (root !== 'result' && root !== 'params' && root !== 'error') return false
  if (first === '_meta') return path.includes('taskId')
  return LISTS[method]?.includes(String(path.at(-1))) ?? true
}

function wholeSighting(value: Value, message: TapeMessage, wanted: WantedPieces): readonly Sighting[] {
  const { text, path, inside } = value
  if (!wanted.has(text)) return []
  const form = inside.some(({ kind }) => kind !== 'key') ? 'nested' : 'member'
  return [{ value: text, message, names: namesAt(path, inside, message.about), form, spot: { path, inside } }]
}

function tokenSightings(
  value: Value,
  message: TapeMessage,
  wanted: WantedPieces,
  isFull: (value: string) => boolean,
): readonly Sighting[] {
  const { text, path, inside, opened } = value
  if (opened || inside[0]?.kind === 'key') return []
  const isMeant = ({ start, end }: Piece): boolean =>
    end - start < text.length && !isFull(text.slice(start, end))
  const pieces = wanted.in(text).filter(isMeant)
  if (pieces.length === 0) return []
  const outer = namesAt(path, inside, message.about)
  return pieces.map((piece) => {
    const names = namesInText(outer, labelBefore(text, piece.start))
    const spot = { path, inside }
    return { value: text.slice(piece.start, piece.end), message, names, form: 'token', spot, piece }
  })
}
