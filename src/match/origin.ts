import type { TurnStore } from '../tape/turn-store.ts'
import type { Spoken } from '../tape/turn.ts'
import { isObject } from '../wire/message.ts'
import { HANDSHAKE_METHODS } from '../wire/methods.ts'
import type { Path } from '../wire/path.ts'

/** Where a server made a value up: the frame of its response, and the path in it. */
export interface Origin {
  readonly frame: number
  readonly path: Path
}

/** The first response before `frame` that holds this value, when the value looks like one that a server made up. */
export function originOf(
  value: unknown,
  { turns, frame, server }: { turns: TurnStore; frame: number; server: string },
): Origin | undefined {
  if (!looksMadeUp(value)) return undefined
  const needle = JSON.stringify(value)
  let left = MOST_CHARACTERS
  for (let place = 0; place < turns.size && left > 0; place++) {
    const outline = turns.outline(place)
    if (outline.frame >= frame) break
    if (outline.server !== server || !outline.answered) continue
    const response = LISTINGS.has(outline.method) ? undefined : turns.turn(place)?.response
    if (response === undefined || response.n >= frame) continue
    left -= response.text.length
    const path = response.text.includes(needle) ? pathIn(response, value) : undefined
    if (path !== undefined) return { frame: response.n, path }
  }
  return undefined
}

// A search through everything that was ever answered must not keep a client waiting.
const MOST_CHARACTERS = 16_000_000

// What these list are names that people gave, not handles.
const LISTINGS: ReadonlySet<string> = new Set([...HANDSHAKE_METHODS, 'tools/list', 'prompts/list'])

/** Ids, cursors and URIs have digits in them, or are long; words that people write have neither. */
function looksMadeUp(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 3 && (/\d/.test(value) || value.length >= 20)
}

function pathIn({ message }: Spoken, value: string): Path | undefined {
  if (message.kind !== 'response' || !('result' in message.outcome)) return undefined
  return findIn(message.outcome.result, value, ['result'])
}

const DEEPEST = 60

function findIn(where: unknown, value: string, path: Path): Path | undefined {
  if (where === value) return path
  if (path.length > DEEPEST) return undefined
  const inside = Array.isArray(where) ? where.entries() : isObject(where) ? Object.entries(where) : []
  for (const [segment, item] of inside) {
    const found = findIn(item, value, [...path, segment])
    if (found !== undefined) return found
  }
  return undefined
}
