import { ReelayError } from '../errors.ts'
import type { RecordedTurns } from '../tape/turn-store.ts'
import type { Turn } from '../tape/turn.ts'
import type { Notification, Request } from '../wire/message.ts'
import { toolOf } from '../match/brief.ts'
import { answeringOrder } from './answering-order.ts'
import { Hearing } from './hearing.ts'
import { endingsOf, updatesOn, type Ending } from './last-news.ts'
import { PlanRows, type Rows } from './plan-rows.ts'

/** One message of the recorded client, and when it may go out. */
export interface Planned {
  /** Its place among the client's messages on the tape, from 0. */
  readonly index: number
  readonly turn: Turn
  readonly message: Request | Notification
  /** The recorded bytes. */
  readonly text: string
  readonly tool: string | undefined
  /** When it was sent, in milliseconds from the start of the tape. */
  readonly at: number
  /** Which of the live links it belongs to. */
  readonly link: string
  /** Requests, by index, whose answers came after the client's last message before this one, and before this one. */
  readonly after: readonly number[]
  /** Requests and changes that the server had told this link of by then, by method: how many. */
  readonly heard: ReadonlyMap<string, number>
  /** How often the server asked the client what, in all of this link. */
  readonly asksInAll: ReadonlyMap<string, number>
  readonly fate: Fate
}

/** Whether it is sent, and if not, why. */
export type Fate =
  | { readonly kind: 'send' }
  /** The user or the handshake left it out. */
  | { readonly kind: 'skip'; readonly why: string }
  /** It might change the world, and nobody allowed that. */
  | { readonly kind: 'hold'; readonly why: string }

export interface PlanOptions {
  readonly turns: RecordedTurns
  /** Why a message is left out, if it is. */
  readonly fateOf: (planned: Candidate) => Fate
}

/** A message, before it is decided whether it is sent. */
export type Candidate = Pick<Planned, 'turn' | 'message' | 'tool' | 'at'>

/** What the recorded client said, in its order, each with what it had waited for. A message is read when it is asked for. */
export function planOf({ turns, fateOf }: PlanOptions): Plan {
  const rows = new PlanRows(fateOf)
  for (let place = 0; place < turns.size; place++) rows.add(turnAt(turns, place), place)
  return new Plan(turns, rows.taken())
}

export class Plan implements Iterable<Planned> {
  readonly size: number
  /** The requests that are cancelled somewhere, by `cancelledKey`. */
  readonly cancelled: ReadonlySet<string>
  /** Whether any message answers a round of input. */
  readonly hasRounds: boolean
  /** Milliseconds from the start of the tape to its last exchange. */
  readonly ended: number
  readonly #turns: RecordedTurns
  readonly #rows: Rows
  readonly #after: (index: number) => readonly number[]
  readonly #hearing: Hearing

  constructor(turns: RecordedTurns, rows: Rows) {
    this.size = rows.place.length
    this.cancelled = rows.cancelled
    this.hasRounds = rows.hasRounds
    this.ended = rows.ended
    this.#turns = turns
    this.#rows = rows
    this.#after = answeringOrder(rows)
    this.#hearing = new Hearing(rows.told)
  }

  /** The message; throws when the tape no longer holds it. */
  at(index: number): Planned {
    const { place, frame, at, link, links, fate, fates } = this.#rows
    const turn = turnAt(this.#turns, place[index] ?? -1)
    const { message, text } = turn.trigger ?? NO_TRIGGER
    if (message.kind !== 'request' && message.kind !== 'notification') throw changed()
    const onLink = link[index] ?? 0
    return {
      index,
      turn,
      message,
      text,
      tool: toolOf(message),
      at: at[index] ?? 0,
      link: links[onLink] ?? '',
      after: this.#after(index),
      heard: this.#hearing.before(frame[index] ?? 0, onLink),
      asksInAll: this.#hearing.inAll(onLink),
      fate: fates[fate[index] ?? 0] ?? SENT,
    }
  }

  /** The last messages to the links that the server told something after, by index. */
  endings(): ReadonlyMap<number, Ending> {
    return endingsOf(this.#rows)
  }

  /** The resources of which the server told a link that they had changed, in its order. */
  updatesOn(link: string): readonly string[] {
    return updatesOn(this.#rows, link)
  }

  /** The frame that it stands in. */
  frameOf(index: number): number {
    return this.#rows.frame[index] ?? 0
  }

  /** The place of its turn among those of the tape. */
  placeOf(index: number): number {
    return this.#rows.place[index] ?? -1
  }

  /** The indexes of the messages that set these turns off, by the places of the turns. */
  indexesOf(places: ReadonlySet<number>): ReadonlyMap<number, number> {
    const indexes = new Map<number, number>()
    for (const [index, place] of this.#rows.place.entries()) if (places.has(place)) indexes.set(place, index)
    return indexes
  }

  *[Symbol.iterator](): Generator<Planned> {
    for (let index = 0; index < this.size; index++) yield this.at(index)
  }
}

const SENT: Fate = { kind: 'send' }
const NO_TRIGGER = { message: { kind: 'invalid' }, text: '' } as const

function turnAt(turns: RecordedTurns, place: number): Turn {
  const turn = turns.turn(place)
  if (turn === undefined) throw changed()
  return turn
}

function changed(): ReelayError {
  return new ReelayError('TAPE_BROKEN', 'the tape no longer holds what it held when it was opened', {
    hint: 'somebody writes to it, or it is damaged: look at it with reelay inspect, and try again',
  })
}

/** Whether nobody waits for its answer: it never got one. */
export function isOpenEnded({ message, turn, fate }: Planned): boolean {
  return message.kind === 'request' && turn.response === undefined && fate.kind === 'send'
}
