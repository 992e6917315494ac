import type { BindingConsumer, LocationStep } from '../binding.ts'
import type { TapeMessage } from '../tape-messages.ts'
import type { LocationNames } from '../names.ts'
import { labelWordsBefore, findPieces, type TextPiece } from '../../correlate/pieces.ts'
import { namesAtLocation, namesFromLabel } from '../../correlate/place-names.ts'
import { findProtocolPair, type ProtocolPair } from '../../correlate/protocol-pairs.ts'
import { messageValues, type MessageValue } from '../values.ts'

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
