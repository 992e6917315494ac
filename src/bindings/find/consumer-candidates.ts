import type { BindingConsumer, LocationStep, ValueLocation } from '../binding.ts'
import { type LocationNames, namesAtLocation, namesFromLabel } from '../names.ts'
import type { TapeMessage } from '../tape-messages.ts'
import { labelWordsBefore, findPieces, type TextPiece, messageValues, type MessageValue } from '../values.ts'
import type { JsonPath } from '../../json/path.ts'

/** One value that the client sent, or a stretch of it. */
export interface ConsumerCandidate {
  readonly value: string
  readonly consumer: BindingConsumer
  readonly message: TapeMessage
  readonly names: LocationNames
  readonly pair: ProtocolPair | undefined
  /** Whether its text may hold other values, which are not told apart already. */
  readonly hasPieces: boolean
}

/** The leaves of a client's message, each as the use of one value. */
export function consumerCandidatesIn(message: TapeMessage): readonly ConsumerCandidate[] {
  return messageValues(message.spoken.text)
    .filter((value) => !isClientOwned(value, message))
    .map((value) => toConsumerCandidate(value, message))
}

/** The known values that stand inside of a leaf, the longest of each place first. The head of a URI is no value of its own. */
export function consumerPieces(
  whole: ConsumerCandidate,
  isKnown: (value: string) => boolean,
): readonly ConsumerCandidate[] {
  if (!whole.hasPieces) return []
  const isMeant = (piece: string): boolean =>
    piece.length < whole.value.length && !piece.includes('://') && isKnown(piece)
  return findPieces(whole.value, isMeant).map((piece) => toConsumerPiece(whole, piece))
}

/** Where a request has what is not for the server of a tool: of it only the task is bound. */
export const META_MEMBER = '_meta'
export const RELATED_TASK_META = 'io.modelcontextprotocol/related-task'

// Names of tools and prompts, levels, tokens and the envelope are no values that a server makes up for the client to send back.
function isClientOwned({ path, inside }: MessageValue, { isResponse, method }: TapeMessage): boolean {
  const [root, first] = path
  if (inside[0]?.kind === 'key') return false
  if (root === 'result') return false
  if (root !== 'params' || isResponse) return true
  if (first === META_MEMBER) return path[2] !== RELATED_TASK_META
  return CLIENT_OWNED_PARAMS[method]?.includes(String(first)) ?? false
}

export const CLIENT_OWNED_PARAMS: Readonly<Record<string, readonly string[]>> = Object.assign(
  Object.create(null),
  {
    'tools/call': ['name', 'task'],
    'prompts/get': ['name'],
    'completion/complete': ['ref', 'argument'],
    'logging/setLevel': ['level'],
    'notifications/cancelled': ['requestId', 'reason'],
    'notifications/progress': ['progressToken', 'progress', 'total', 'message'],
  },
)

function toConsumerCandidate(value: MessageValue, message: TapeMessage): ConsumerCandidate {
  const { text, path, inside, opened } = value
  const use = inside[0]?.kind === 'key' ? 'key' : 'value'
  return {
    value: text,
    consumer: { ...messageLocation(message), path, inside, use },
    message,
    names: namesAtLocation(path, inside, message.subjectWords),
    pair: findProtocolPair(value),
    hasPieces: !opened && use === 'value',
  }
}

function toConsumerPiece(whole: ConsumerCandidate, { start, end }: TextPiece): ConsumerCandidate {
  const inside: readonly LocationStep[] = [...whole.consumer.inside, { kind: 'span', start, end }]
  return {
    ...whole,
    value: whole.value.slice(start, end),
    consumer: { ...whole.consumer, use: 'part', inside },
    names: namesFromLabel(whole.names, labelWordsBefore(whole.value, start)),
    pair: undefined,
    hasPieces: false,
  }
}

function messageLocation({ turn, n, item }: TapeMessage): { turn: number; frame: number; item?: number } {
  return { turn, frame: n, ...(item === undefined ? {} : { item }) }
}

/** A pair that the protocol itself defines: what the server calls `from` comes back under this name. */
interface ProtocolPair {
  /** The name of the producing leaf. */
  readonly from: string
  /** Whether the newest of equal values is meant, or the one that was said first. */
  readonly pick: 'latest' | 'first'
  readonly why: string
}

/** The pair that a spot in a request of the client is the second half of. */
function findProtocolPair({ path, inside }: ValueLocation): ProtocolPair | undefined {
  if (inside[0]?.kind === 'key') return INPUT_ROUND_PAIR
  if (inside.length > 0 || path.includes('arguments') || path[0] !== 'params') return undefined
  return PROTOCOL_PAIRS[String(path.findLast((step) => typeof step === 'string'))]
}

/** Whether the protocol says that this spot of a server's message produces for the pair. */
export function producesForPair({ from }: ProtocolPair, { path, inside }: ValueLocation): boolean {
  if (inside[0]?.kind === 'key') return from === INPUT_ROUND_PAIR.from
  return inside.length === 0 && from === lastNameOf(path)
}

/** Whether a spot of a server's message gets a new value with each answer. */
export function isRenewedByProtocol(spot: ValueLocation): boolean {
  return [INPUT_ROUND_PAIR, ...Object.values(PROTOCOL_PAIRS)].some(
    (pair) => pair.pick === 'latest' && producesForPair(pair, spot),
  )
}

const INPUT_ROUND_PAIR: ProtocolPair = {
  from: 'inputRequests',
  pick: 'latest',
  why: 'an answer is sent under the name that the server asked under',
}

const TASK_PAIR: ProtocolPair = { from: 'taskId', pick: 'first', why: 'the server names its tasks' }

const PROTOCOL_PAIRS: Readonly<Record<string, ProtocolPair>> = Object.assign(Object.create(null), {
  cursor: { from: 'nextCursor', pick: 'latest', why: 'a cursor is sent back as `nextCursor` gave it' },
  requestState: {
    from: 'requestState',
    pick: 'latest',
    why: 'the server gets its `requestState` back as it was',
  },
  taskId: TASK_PAIR,
  taskIds: TASK_PAIR,
})

function lastNameOf(path: JsonPath): string {
  return String(path.findLast((step) => typeof step === 'string'))
}
