import type { Id } from '../../protocol/id.ts'
import type { Message, Request } from '../../protocol/message.ts'
import type { ReplyChannel } from '../player/reply-channel.ts'
import type { SendReply } from '../reply.ts'

/** Where a request of one client goes that the tape cannot answer, when the user said so. */
export interface UpstreamServer {
  /** Whether there is no tape to play, so that everything goes there. */
  readonly isAlone?: boolean
  /** Hears everything that the client sends; true when it is the live server's business alone. */
  observe(text: string, message: Message): boolean
  /** Answers a request. What else the live server says leaves by the outlet of the request that it belongs to. */
  forward(
    text: string,
    request: Request,
    ways: { readonly reply: SendReply; readonly outlet: ReplyChannel },
  ): void
  /** The client no longer waits for the answer to a request of that outlet. */
  cancel(id: Id, outlet: ReplyChannel): void
  /** Resolves when everything is answered, or `stop` says not to wait for that, and the live server is gone. */
  close(stop: AbortSignal): Promise<void>
}
