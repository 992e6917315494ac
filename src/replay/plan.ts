import type { Turn } from '../tape/turn.ts'
import type { Notification, Request } from '../wire/message.ts'
import { HANDSHAKE_METHODS, isEnveloped } from '../wire/methods.ts'
import { toolOf } from './tool.ts'

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
  readonly turns: readonly Turn[]
  /** Why a message is left out, if it is. */
  readonly fateOf: (planned: Omit<Planned, 'fate'>) => Fate
}

/** What the recorded client said, in its order, each with what it had waited for. */
export function planOf({ turns, fateOf }: PlanOptions): readonly Planned[] {
  const spoken = turns.flatMap(spokenByClient).toSorted((a, b) => a.n - b.n)
  const answers = answersInOrder(spoken)
  let next = 0
  return spoken.map(({ n, turn, message, text, at }, index) => {
    const after: number[] = []
    for (; (answers[next]?.n ?? Infinity) < n; next++) after.push(answers[next]?.index ?? 0)
    const planned = { index, turn, message, text, tool: toolOf(message), at, link: linkOf(turn), after }
    return { ...planned, fate: fateOf(planned) }
  })
}

interface SpokenByClient {
  readonly n: number
  readonly turn: Turn
  readonly message: Request | Notification
  readonly text: string
  readonly at: number
}

function spokenByClient(turn: Turn): readonly SpokenByClient[] {
  const { trigger } = turn
  if (trigger?.message.kind !== 'request' && trigger?.message.kind !== 'notification') return []
  return [{ n: trigger.n, turn, message: trigger.message, text: trigger.text, at: trigger.t }]
}

function answersInOrder(spoken: readonly SpokenByClient[]): readonly { n: number; index: number }[] {
  return spoken
    .flatMap(({ turn: { response } }, index) => (response === undefined ? [] : [{ n: response.n, index }]))
    .toSorted((a, b) => a.n - b.n)
}

// A modern exchange over HTTP is a connection of its own, and has no state: all of them share one link.
function linkOf({ trigger }: Turn): string {
  return trigger?.x === undefined || !isStateless(trigger) ? `${trigger?.conn ?? 0}` : 'stateless'
}

function isStateless({ message }: NonNullable<Turn['trigger']>): boolean {
  return 'params' in message && isEnveloped(message.params)
}

/** Whether it opens a conversation. */
export function isHandshake({ method }: Request | Notification): boolean {
  return HANDSHAKE_METHODS.has(method) || method === 'notifications/initialized'
}
