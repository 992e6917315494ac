import type { Consumer, Lens } from './binding.ts'
import type { TapeMessage } from './messages.ts'
import type { Names } from './names.ts'
import { labelBefore, piecesOf, type Piece } from './pieces.ts'
import { namesAt, namesInText } from './place-names.ts'
import { protocolPairOf, type ProtocolPair } from './protocol-pairs.ts'
import { valuesIn, type Value } from './values.ts'

/** One value that the client sent, or a stretch of it. */
export interface Use {
  readonly value: string
  readonly consumer: Consumer
  readonly message: TapeMessage
  readonly names: Names
  readonly pair: ProtocolPair | undefined
  /** Whether its text may hold other values, which are not told apart already. */
  readonly hasPieces: boolean
}

/** The leaves of a client's message, each as the use of one value. */
export function usesIn(message: TapeMessage): readonly Use[] {
  return valuesIn(message.spoken.text)
    .filter((value) => !isClientsOwn(value, message))
    .map((value) => useOf(value, message))
}

/** The known values that stand inside of a leaf, the longest of each place first. The head of a URI is no value of its own. */
export function pieceUses(whole: Use, isKnown: (value: string) => boolean): readonly Use[] {
  if (!whole.hasPieces) return []
  const isMeant = (piece: string): boolean =>
    piece.length < whole.value.length && !piece.includes('://') && isKnown(piece)
  return piecesOf(whole.value, isMeant).map((piece) => pieceUse(whole, piece))
}

/** Where a request has what is not for the server of a tool: of it only the task is bound. */
export const META = '_meta'
export const RELATED_TASK = 'io.modelcontextprotocol/related-task'

// Names of tools and prompts, levels, tokens and the envelope are no values that a server makes up for the client to send back.
function isClientsOwn({ path, inside }: Value, { isResponse, method }: TapeMessage): boolean {
  const [root, first] = path
  if (inside[0]?.kind === 'key') return false
  if (root === 'result') return false
  if (root !== 'params' || isResponse) return true
  if (first === META) return path[2] !== RELATED_TASK
  return CLIENTS_OWN[method]?.includes(String(first)) ?? false
}

export const CLIENTS_OWN: Readonly<Record<string, readonly string[]>> = Object.assign(Object.create(null), {
  'tools/call': ['name', 'task'],
  'prompts/get': ['name'],
  'completion/complete': ['ref', 'argument'],
  'logging/setLevel': ['level'],
  'notifications/cancelled': ['requestId', 'reason'],
  'notifications/progress': ['progressToken', 'progress', 'total', 'message'],
})

function useOf(value: Value, message: TapeMessage): Use {
  const { text, path, inside, opened } = value
  const use = inside[0]?.kind === 'key' ? 'key' : 'value'
  return {
    value: text,
    consumer: { ...placeOf(message), path, inside, use },
    message,
    names: namesAt(path, inside, message.about),
    pair: protocolPairOf(value),
    hasPieces: !opened && use === 'value',
  }
}

function pieceUse(whole: Use, { start, end }: Piece): Use {
  const inside: readonly Lens[] = [...whole.consumer.inside, { kind: 'span', start, end }]
  return {
    ...whole,
    value: whole.value.slice(start, end),
    consumer: { ...whole.consumer, use: 'part', inside },
    names: namesInText(whole.names, labelBefore(whole.value, start)),
    pair: undefined,
    hasPieces: false,
  }
}

function placeOf({ turn, n, item }: TapeMessage): { turn: number; frame: number; item?: number } {
  return { turn, frame: n, ...(item === undefined ? {} : { item }) }
}
