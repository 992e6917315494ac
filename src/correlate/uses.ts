import type { Consumer } from './binding.ts'
import type { TapeMessage } from './messages.ts'
import type { Names } from './names.ts'
import { isLong, labelBefore, piecesOf } from './pieces.ts'
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
}

/** All that could be a handle in one leaf of a client's message: the whole first, then its pieces, the longest first. */
export interface LeafUses {
  readonly whole: Use
  readonly pieces: readonly Use[]
  /** Whether what it holds is looked at by itself. */
  readonly opened: boolean
}

export function usesIn(message: TapeMessage): readonly LeafUses[] {
  return valuesIn(message.spoken.text)
    .filter((value) => !isClientsOwn(value, message))
    .map((value) => leafUses(value, message))
}

const META = '_meta'
const RELATED_TASK = 'io.modelcontextprotocol/related-task'

// Names of tools and prompts, levels, tokens and the envelope are no values that a server makes up for the client to send back.
function isClientsOwn({ path, inside }: Value, { spoken, method }: TapeMessage): boolean {
  const [root, first] = path
  if (inside[0]?.kind === 'key') return false
  if (root === 'result') return false
  if (root !== 'params' || spoken.message.kind === 'response') return true
  if (first === META) return path[2] !== RELATED_TASK
  return OWN[method]?.includes(String(first)) ?? false
}

const OWN: Readonly<Record<string, readonly string[]>> = Object.assign(Object.create(null), {
  'tools/call': ['name', 'task'],
  'prompts/get': ['name'],
  'completion/complete': ['ref', 'argument'],
  'logging/setLevel': ['level'],
  'notifications/cancelled': ['requestId', 'reason'],
  'notifications/progress': ['progressToken', 'progress', 'total', 'message'],
})

function leafUses(value: Value, message: TapeMessage): LeafUses {
  const { path, inside } = value
  const names = namesAt(path, inside, message.about)
  const use = inside[0]?.kind === 'key' ? ('key' as const) : ('value' as const)
  const place = placeOf(message)
  const consumer: Consumer = { ...place, path, inside, use }
  const whole: Use = { value: value.text, consumer, message, names, pair: protocolPairOf(value) }
  const isWhole = value.opened || use === 'key' || isLong(value.text)
  return { whole, pieces: isWhole ? [] : pieceUses(whole), opened: value.opened }
}

// The head of a URI is where the server lives, not what it made up.
function pieceUses(whole: Use): readonly Use[] {
  const text = whole.value
  return piecesOf(text)
    .filter(({ start, end }) => end - start < text.length && !text.slice(start, end).includes('://'))
    .map(({ start, end }) => ({
      ...whole,
      value: text.slice(start, end),
      consumer: {
        ...whole.consumer,
        use: 'part',
        inside: [...whole.consumer.inside, { kind: 'span', start, end }],
      },
      names: namesInText(whole.names, labelBefore(text, start)),
      pair: undefined,
    }))
}

function placeOf({ turn, spoken }: TapeMessage): { turn: number; frame: number; item?: number } {
  return { turn, frame: spoken.n, ...(spoken.item === undefined ? {} : { item: spoken.item }) }
}
