import type { TurnStore } from '../tape/turn-store.ts'
import type { RecordedMessage } from '../tape/turn.ts'
import { isObject } from '../protocol/message.ts'
import { HANDSHAKE_METHODS } from '../protocol/methods.ts'
import type { PathPattern } from '../json/path.ts'

/** Where a server made a value up: the frame of its response, and the path in it. */
export interface ValueOrigin {
  readonly frame: number
  readonly path: PathPattern
}

export interface OriginSearch {
  readonly turns: TurnStore
  /** The place of the request that the value stands in, and its frame. */
  readonly place: number
  readonly frame: number
  readonly server: string
}

/** The first response before a request that holds this value, when the value looks like one that a server made up. */
export function findValueOrigin(value: unknown, search: OriginSearch): ValueOrigin | undefined {
  if (!looksGenerated(value)) return undefined
  return placesContaining(JSON.stringify(value), search)
    .toReversed()
    .map((place) => originInTurn(place, value, search))
    .find((origin) => origin !== undefined)
}

/** From the request backwards: on a long tape what was said last is most likely what the client had it from. */
function placesContaining(needle: string, { turns, place, server }: OriginSearch): readonly number[] {
  const places: number[] = []
  let left = MOST_CHARACTERS
  const last = Math.max(0, place - MOST_TURNS)
  for (let at = place - 1; at >= last && left > 0; at--) {
    const outline = turns.outline(at)
    if (outline.server !== server || !outline.answered || LISTINGS.has(outline.method)) continue
    const glance = turns.previewResponse(at, needle)
    left -= glance?.length ?? 0
    if (glance?.mayContain) places.push(at)
  }
  return places
}

function originInTurn(place: number, value: string, { turns, frame }: OriginSearch): ValueOrigin | undefined {
  const response = turns.turn(place)?.response
  if (response === undefined || response.n >= frame) return undefined
  const path = pathInResponse(response, value)
  return path === undefined ? undefined : { frame: response.n, path }
}

// A search through everything that was ever answered must not keep a client waiting.
const MOST_CHARACTERS = 16_000_000
const MOST_TURNS = 4_096

// What these list are names that people gave, not handles.
const LISTINGS: ReadonlySet<string> = new Set([...HANDSHAKE_METHODS, 'tools/list', 'prompts/list'])

/** Ids, cursors and URIs have digits in them, or are long; words that people write have neither. */
function looksGenerated(value: unknown): value is string {
  return typeof value === 'string' && value.length >= 3 && (/\d/.test(value) || value.length >= 20)
}

function pathInResponse({ message }: RecordedMessage, value: string): PathPattern | undefined {
  if (message.kind !== 'response' || !('result' in message.outcome)) return undefined
  return findPathOf(message.outcome.result, value, ['result'])
}

const DEEPEST_SEARCHED = 60

function findPathOf(where: unknown, value: string, path: PathPattern): PathPattern | undefined {
  if (where === value) return path
  if (path.length > DEEPEST_SEARCHED) return undefined
  const inside = Array.isArray(where) ? where.entries() : isObject(where) ? Object.entries(where) : []
  for (const [segment, item] of inside) {
    const found = findPathOf(item, value, [...path, segment])
    if (found !== undefined) return found
  }
  return undefined
}
