import type { Lens, Place } from './binding.ts'
import type { TapeMessage } from './messages.ts'
import type { Names } from './names.ts'
import { labelBefore, piecesOf } from './pieces.ts'
import { namesAt, namesInText } from './place-names.ts'
import { tokenPlace } from './token-place.ts'
import { valuesIn, type Value } from './values.ts'

/** One place where the server said a value that the client sent later. */
export interface Sighting {
  readonly value: string
  readonly place: Place
  readonly message: TapeMessage
  readonly names: Names
  /** How the value stands there: as a member of its own, inside JSON or base64 in a text, or among words. */
  readonly form: 'member' | 'nested' | 'token'
}

/** What the client sent somewhere: only that is worth a look. */
export interface Wanted {
  readonly values: ReadonlySet<string>
  readonly lengths: ReadonlySet<number>
}

export function sightingsIn(message: TapeMessage, wanted: Wanted): readonly Sighting[] {
  return valuesIn(message.spoken.text)
    .filter((value) => isProducing(value, message))
    .flatMap((value) => [...wholeSighting(value, message, wanted), ...tokenSightings(value, message, wanted)])
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

function wholeSighting(value: Value, message: TapeMessage, { values }: Wanted): readonly Sighting[] {
  if (!values.has(value.text)) return []
  const names = namesAt(value.path, value.inside, message.about)
  const form = value.inside.some(({ kind }) => kind !== 'key') ? 'nested' : 'member'
  return [{ value: value.text, place: placeOf(value, message), message, names, form }]
}

function tokenSightings(value: Value, message: TapeMessage, wanted: Wanted): readonly Sighting[] {
  if (value.opened || value.inside[0]?.kind === 'key' || !/[^\p{L}\p{N}]/u.test(value.text)) return []
  const outer = namesAt(value.path, value.inside, message.about)
  return piecesOf(value.text, (length) => wanted.lengths.has(length))
    .filter(({ start, end }) => end - start < value.text.length)
    .filter(({ start, end }) => wanted.values.has(value.text.slice(start, end)))
    .map(({ start, end }) => {
      const lens: Lens = { kind: 'token', token: tokenPlace(value.text, start, end) }
      return {
        value: value.text.slice(start, end),
        place: placeOf({ ...value, inside: [...value.inside, lens] }, message),
        message,
        names: namesInText(outer, labelBefore(value.text, start)),
        form: 'token' as const,
      }
    })
}

function placeOf({ path, inside }: Pick<Value, 'path' | 'inside'>, { turn, spoken }: TapeMessage): Place {
  return { turn, frame: spoken.n, ...(spoken.item === undefined ? {} : { item: spoken.item }), path, inside }
}
