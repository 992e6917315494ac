import type { Clock } from '../player/clock.ts'
import type { ReplyChannel, SendReply } from '../player/reply-channel.ts'

/** Something that goes wrong with the answer to one request, on purpose. */
export interface Fault {
  /** What becomes of the request: `is never answered`. */
  readonly description: string
  /** Whether the client does not get the recorded answer: it then stays on the tape for a retry. */
  readonly hidesAnswer: boolean
  /** What only the link can do. */
  readonly needs?: keyof LinkFaultActions
  apply(scene: FaultContext): void
}

/** One kind of fault: one file here, and one line in the list of `index.ts`. */
export interface FaultKind {
  /** The key in a faults file. */
  readonly name: string
  /** What may stand there. */
  readonly expects: string
  /** The fault that the value asks for; undefined when it makes no sense. */
  readonly parse: (value: unknown) => Fault | undefined
}

/** One struck request, as a fault sees it. */
export interface FaultContext {
  /** The live id, as JSON. */
  readonly id: string
  readonly outlet: ReplyChannel
  readonly clock: Clock
  /** Plays what the tape has for the request, but for its answer, which goes to `reply`. */
  readonly play: (reply: SendReply) => void
  /** Answers the request; undefined when there will be no answer. */
  readonly reply: SendReply
  readonly isCancelled: () => boolean
  /** Calls back when the client cancels the request. */
  readonly onCancel: (action: () => void) => void
  readonly link: LinkFaultActions
}

/** What a link can do to its client; `outlet` is the way that the answer would have taken. */
export interface LinkFaultActions {
  /** Ends the stream that the answer would come by. A link without such streams just leaves the answer out. */
  readonly drop?: (outlet: ReplyChannel) => void
  /** Breaks the connection off. */
  readonly disconnect?: (outlet: ReplyChannel) => void
  /** Answers the HTTP exchange of the request with this in place of a message. */
  readonly http?: (answer: InjectedHttpResponse, outlet: ReplyChannel) => void
}

export interface InjectedHttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A kind of fault that there is no more to say about: `timeout: true`. */
export function flagFault(name: string, fault: Fault): FaultKind {
  return { name, expects: 'true', parse: (value) => (value === true ? fault : undefined) }
}
