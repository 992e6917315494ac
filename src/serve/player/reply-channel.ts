import type { FaultActions, InjectedHttpResponse } from '../../faults/fault.ts'
import type { Response } from '../../protocol/message.ts'
import type { RecordedMessage } from '../../tape/turns.ts'

/**
 * Carries what one message of the client causes. A stdio connection has one channel; over HTTP each exchange has its own.
 */
export interface ReplyChannel {
  /** Distinguishes request ids of different channels. It is the same for channels that share the ids of a connection. */
  readonly scope: string
  /** Sends a message that is not the response. */
  readonly send: (text: string) => void
  /** Sends the response to the request or the batch. */
  readonly reply: SendReply
  /** Ends the HTTP exchange with this response, or by closing the connection if there is none. */
  readonly breakOff?: ((response?: InjectedHttpResponse) => void) | undefined
}

/** Takes the response to a request, or `undefined` if there will be none. */
export type SendReply = (text: string | undefined, source?: ReplySource) => void

/** Where a response comes from: the tape, or an outcome that was made for this run. */
export type ReplySource = RecordedMessage | Response['outcome']

/** The channel of a connection that has only one. */
export function singleReplyChannel(send: (text: string) => void): ReplyChannel {
  return {
    scope: '',
    send,
    reply: (text) => {
      if (text !== undefined) send(text)
    },
  }
}

/** The same channel with another way to respond. */
export function withReply({ scope, send, breakOff }: ReplyChannel, reply: SendReply): ReplyChannel {
  return { scope, send, breakOff, reply }
}

/** Collects the responses to a batch and sends them as one array when the last one is known. */
export function batchReplyChannel(channel: ReplyChannel, requests: number): ReplyChannel {
  const responses: string[] = []
  let pending = requests
  return withReply(channel, (text) => {
    if (text !== undefined) responses.push(text)
    pending--
    if (pending === 0) channel.reply(responses.length > 0 ? `[${responses.join(',')}]` : undefined)
  })
}

/** Over HTTP a fault ends only the exchange of its request. */
export function exchangeFaultActions({ breakOff }: ReplyChannel): FaultActions {
  const end = (): void => breakOff?.()
  return { http: (response) => breakOff?.(response), drop: end, disconnect: end }
}
