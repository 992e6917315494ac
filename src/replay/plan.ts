import type { Step, Turn } from '../tape/turn.ts'
import type { Notification, Request } from '../wire/message.ts'
import { HANDSHAKE_METHODS, isEnveloped } from '../wire/methods.ts'
import { toolOf } from '../match/brief.ts'

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
  readonly turns: readonly Turn[]
  /** Why a message is left out, if it is. */
  readonly fateOf: (planned: Candidate) => Fate
}

/** A message, before it is decided whether it is sent. */
export type Candidate = Pick<Planned, 'index' | 'turn' | 'message' | 'tool' | 'at'>

/** What the recorded client said, in its order, each with what it had waited for. */
export function planOf({ turns, fateOf }: PlanOptions): readonly Planned[] {
  const spoken = turns.flatMap(spokenByClient).toSorted((a, b) => a.n - b.n)
  const candidates = spoken.map(({ turn, message, at }, index) => ({
    index,
    turn,
    message,
    tool: toolOf(message),
    at,
  }))
  const fates = candidates.map(fateOf)
  const answeredBefore = answering(spoken)
  const heardBefore = hearing(turns.filter(isHeardOf(candidates, fates)))
  const inAll = hearing(turns)
  const asks = new Map([...new Set(turns.map(linkOf))].map((link) => [link, inAll(link, Infinity)]))
  return candidates.map(({ index, turn, message, tool, at }) => {
    const { n = 0, text = '' } = turn.trigger ?? {}
    const [link, fate] = [linkOf(turn), fates[index] ?? SENT]
    const [after, heard, asksInAll] = [answeredBefore(n), heardBefore(link, n), asks.get(link) ?? NONE]
    return { index, turn, message, text, tool, at, link, after, heard, asksInAll, fate }
  })
}

const SENT: Fate = { kind: 'send' }
const NONE: ReadonlyMap<string, number> = new Map()

/** What a message that is not sent brought about does not come; our own handshake brings about what the recorded one did. */
function isHeardOf(candidates: readonly Candidate[], fates: readonly Fate[]): (turn: Turn) => boolean {
  const unsent = new Set(
    candidates
      .filter(({ index, message }) => fates[index]?.kind !== 'send' && !isHandshake(message))
      .map(({ turn }) => turn),
  )
  return (turn) => !unsent.has(turn)
}

interface SpokenByClient {
  readonly n: number
  readonly turn: Turn
  readonly message: Request | Notification
  readonly at: number
}

function spokenByClient(turn: Turn): readonly SpokenByClient[] {
  const { trigger } = turn
  if (trigger?.message.kind !== 'request' && trigger?.message.kind !== 'notification') return []
  return [{ n: trigger.n, turn, message: trigger.message, at: trigger.t }]
}

/** The requests whose answers came since it was asked last; to be asked in recorded order. */
function answering(spoken: readonly SpokenByClient[]): (n: number) => readonly number[] {
  const answers = spoken
    .flatMap(({ turn: { response } }, index) => (response === undefined ? [] : [{ n: response.n, index }]))
    .toSorted((a, b) => a.n - b.n)
  let next = 0
  return (n) => {
    const from = next
    while ((answers[next]?.n ?? Infinity) < n) next++
    return answers.slice(from, next).map(({ index }) => index)
  }
}

/** Counts what the server said of its own accord and a client may have waited for; to be asked in recorded order. */
function hearing(turns: readonly Turn[]): (link: string, n: number) => ReadonlyMap<string, number> {
  const told = turns
    .flatMap((turn) => turn.steps.flatMap((step) => awaitable(step, linkOf(turn))))
    .toSorted((a, b) => a.n - b.n)
  const counts = new Map<string, ReadonlyMap<string, number>>()
  let next = 0
  return (link, n) => {
    for (; (told[next]?.n ?? Infinity) < n; next++) count(counts, told[next])
    return counts.get(link) ?? NOTHING
  }
}

const NOTHING: ReadonlyMap<string, number> = new Map()

interface Told {
  readonly n: number
  readonly link: string
  readonly method: string
}

/** Progress and logs come as often as the server likes: nobody waits for a certain one. */
function awaitable(step: Step, link: string): readonly Told[] {
  if (step.kind === 'respond') return []
  const { n, message } = step.kind === 'ask' ? step.request : step.message
  const method = 'method' in message ? message.method : ''
  return isAwaited(method) ? [{ n, link, method }] : []
}

// A new map for each change: what was given out before says what had been heard until then.
function count(counts: Map<string, ReadonlyMap<string, number>>, told: Told | undefined): void {
  if (told === undefined) return
  const ofLink = new Map(counts.get(told.link))
  counts.set(told.link, ofLink.set(told.method, (ofLink.get(told.method) ?? 0) + 1))
}

/** Whether a client may wait for it: a request of the server, or word that something has changed. */
function isAwaited(method: string): boolean {
  return method !== 'ping' && method !== 'notifications/progress' && method !== 'notifications/message'
}

// A modern exchange over HTTP is a connection of its own, and has no state: all of them share one link.
export function linkOf({ trigger, steps: [first] }: Turn): string {
  if (trigger === undefined) return `${(first?.kind === 'ask' ? first.request : first?.message)?.conn ?? 0}`
  return trigger.x === undefined || !isStateless(trigger) ? `${trigger.conn}` : 'stateless'
}

function isStateless({ message }: NonNullable<Turn['trigger']>): boolean {
  return 'params' in message && isEnveloped(message.params)
}

/** The link of the client's first message. */
export function firstLink(turns: readonly Turn[]): string | undefined {
  let first: SpokenByClient | undefined
  for (const turn of turns)
    for (const spoken of spokenByClient(turn)) if (spoken.n < (first?.n ?? Infinity)) first = spoken
  return first && linkOf(first.turn)
}

/** Whether nobody waits for its answer: it never got one. */
export function isOpenEnded({ message, turn, fate }: Planned): boolean {
  return message.kind === 'request' && turn.response === undefined && fate.kind === 'send'
}

/** Whether it opens a conversation. */
export function isHandshake({ method }: Request | Notification): boolean {
  return HANDSHAKE_METHODS.has(method) || method === 'notifications/initialized'
}
