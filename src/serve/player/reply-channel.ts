import type { Response } from '../../protocol/message.ts'
import type { FaultActions, InjectedHttpResponse } from '../../faults/fault.ts'
import type { RecordedMessage } from '../../tape/turn.ts'

/** The way out for what one message of the client sets off. On a pipe it is always the same; on HTTP each exchange has its own. */
export interface ReplyChannel {
  /** Tells its ids from those of other outlets; the same for all where ids belong to the connection. */
  readonly scope: string
  /** Takes what comes before and after the answer. */
  readonly send: (text: string) => void
  /** Takes the answer to the request, or to the batch. */
  readonly reply: SendReply
  /** Ends an HTTP exchange that goes wrong on purpose: with this in place of a message, or else by breaking off. */
  readonly breakOff?: (answer?: InjectedHttpResponse) => void
}

/** The only way out of a connection that has one. */
export function singleReplyChannel(send: (text: string) => void): ReplyChannel {
  return {
    scope: '',
    send,
    reply: (text) => {
      if (text !== undefined) send(text)
    },
  }
}

/** Over HTTP a fault ends only the exchange of its request. */
export function exchangeFaultActions({ breakOff }: ReplyChannel): FaultActions {
  const end = (): void => breakOff?.()
  return { http: (response) => breakOff?.(response), drop: end, disconnect: end }
}

/** Where an answer comes from: the tape, or what somebody else had to say. */
export type ReplySource = RecordedMessage | Response['outcome']

/** Takes the one answer to a live request; undefined when there will be none. `source` is where it comes from, as far as it is one. */
export type SendReply = (text: string | undefined, source?: ReplySource) => void

/** The answers to one live batch leave together, as one array, when the last of them is known. */
export function collectBatchReply(requests: number, reply: SendReply): SendReply {
  const answers: string[] = []
  let open = requests
  return (text) => {
    if (text !== undefined) answers.push(text)
    open--
    if (open === 0) reply(answers.length > 0 ? `[${answers.join(',')}]` : undefined)
  }
}
