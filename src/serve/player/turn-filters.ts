import { turnKindsOf, type TurnOutline, type TurnKind, type TurnStore } from '../../tape/turn-store.ts'
import type { Turn, RecordedMessage } from '../../tape/turn.ts'

/** The same turns without some: their places stay, and hold nothing. */
export function filterTurns(store: TurnStore, isChosen: (place: number) => boolean): TurnStore {
  const turn = (place: number): Turn | undefined => (isChosen(place) ? store.turn(place) : undefined)
  const outline = (place: number): TurnOutline => (isChosen(place) ? store.outline(place) : EMPTY_OUTLINE)
  let kinds: readonly TurnKind[] | undefined
  return {
    size: store.size,
    kinds: () =>
      (kinds ??= turnKindsOf(store.size, (place) => (isChosen(place) ? outline(place) : undefined))),
    clientCall: (place) => (isChosen(place) ? store.clientCall(place) : undefined),
    mostSimilar: (key, places, most) => store.mostSimilar(key, places, most),
    previewResponse: (place, text) => (isChosen(place) ? store.previewResponse(place, text) : undefined),
    outline,
    turn,
    trigger: (place) => (isChosen(place) ? store.trigger(place) : undefined),
    keyedBy(keyOf) {
      const keyed = store.keyedBy(keyOf)
      const chosenFrom = (place: number): number => {
        let at = place
        while (at >= 0 && !isChosen(at)) at = keyed.after(at)
        return at
      }
      return {
        isExact: keyed.isExact,
        first: (key) => chosenFrom(keyed.first(key)),
        after: (place) => chosenFrom(keyed.after(place)),
      }
    },
    [Symbol.iterator]: () => turnsFrom(store.size, turn),
  }
}

const EMPTY_OUTLINE: TurnOutline = {
  trigger: 'none',
  server: '',
  method: '',
  frame: 0,
  answered: false,
  enveloped: false,
  hasSteps: false,
  name: undefined,
}

function* turnsFrom(size: number, turnAt: (place: number) => Turn | undefined): Generator<Turn> {
  for (let place = 0; place < size; place++) {
    const turn = turnAt(place)
    if (turn !== undefined) yield turn
  }
}

// Turns may be on a disk, and to tell whose one is it must be read: beyond this many of one key the order is that of the tape.
const MAX_REORDERED = 1024

/** The same turns in an order of preference: of those with the same key, `isOwn` come first. What others opened with is left out. */
export function preferTurns(store: TurnStore, isOwn: (turn: Turn) => boolean): TurnStore {
  const isOwnAt = (place: number): boolean => {
    const turn = store.turn(place)
    return turn !== undefined && isOwn(turn)
  }
  const chosen = filterTurns(store, (place) => store.outline(place).trigger !== 'none' || isOwnAt(place))
  return {
    size: chosen.size,
    kinds: () => chosen.kinds(),
    clientCall: (place) => chosen.clientCall(place),
    mostSimilar: (key, places, most) => chosen.mostSimilar(key, places, most),
    previewResponse: (place, text) => chosen.previewResponse(place, text),
    outline: (place) => chosen.outline(place),
    turn: (place) => chosen.turn(place),
    trigger: (place) => chosen.trigger(place),
    [Symbol.iterator]: () => chosen[Symbol.iterator](),
    keyedBy(keyOf) {
      const keyed = chosen.keyedBy(keyOf)
      const firsts = new Map<number, number>()
      const next = new Map<number, number>()
      const order = (first: number): number => {
        const places: number[] = []
        let at = first
        for (; at >= 0 && places.length < MAX_REORDERED; at = keyed.after(at)) places.push(at)
        const ordered = [...places.filter(isOwnAt), ...places.filter((place) => !isOwnAt(place))]
        for (const [index, place] of ordered.entries()) next.set(place, ordered[index + 1] ?? at)
        firsts.set(first, ordered[0] ?? first)
        return ordered[0] ?? first
      }
      return {
        isExact: keyed.isExact,
        first(key) {
          const first = keyed.first(key)
          return first < 0 ? first : (firsts.get(first) ?? order(first))
        },
        after: (place) => next.get(place) ?? keyed.after(place),
      }
    },
  }
}

/** Whether a turn was said in a session. */
export type SessionFilter = (turn: Turn) => boolean

/**
 * The sessions of a tape in the order in which they began. A connection that holds a handshake and more is one. Where each
 * exchange is a connection of its own, a session lasts from one handshake to the next.
 */
export function sessionFilters(turns: TurnStore): readonly SessionFilter[] {
  const handshakes: number[] = []
  for (let place = 0; place < turns.size; place++)
    if (turns.outline(place).method === 'initialize') handshakes.push(place)
  return handshakes.flatMap((place, nth) => {
    const opening = turns.turn(place)
    const conn = opening && firstMessageOf(opening)?.conn
    if (conn === undefined) return []
    if (isContinued(turns, place, conn)) return [(turn) => firstMessageOf(turn)?.conn === conn]
    const first = opening?.trigger?.n ?? 0
    const end = handshakes[nth + 1]
    const next = end === undefined ? Infinity : turns.outline(end).frame
    return [(turn) => isWithin(firstMessageOf(turn)?.n, first, next)]
  })
}

/** Where a turn was recorded: at its first message. */
export function firstMessageOf({ trigger, steps: [first] }: Turn): RecordedMessage | undefined {
  return trigger ?? (first?.kind === 'ask' ? first.request : first?.message)
}

// A client goes on at once, and others that speak meanwhile are few.
const LOOKAHEAD_TURNS = 64

function isContinued(turns: TurnStore, handshake: number, conn: number): boolean {
  const end = Math.min(handshake + LOOKAHEAD_TURNS, turns.size)
  for (let place = handshake + 1; place < end; place++) {
    const turn = turns.turn(place)
    if (turn !== undefined && firstMessageOf(turn)?.conn === conn) return true
  }
  return false
}

function isWithin(n: number | undefined, from: number, to: number): boolean {
  return n !== undefined && n >= from && n < to
}
