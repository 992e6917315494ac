import type { OpenLink } from '../../link/client-link.ts'
import type { Id, Message } from '../../protocol/message.ts'
import type { LiveRequest } from '../player/live-messages.ts'
import type { ReplyChannel } from '../player/reply-channel.ts'
import { recordedInputSchemas } from '../playable-tape.ts'
import type { TurnStore } from '../../tape/turns.ts'

/** A live server that answers the requests of one client that the tape cannot answer. */
export interface UpstreamServer {
  /** True if there is no tape, so that every message is forwarded. */
  readonly isAlone?: boolean
  /** Sees every message of the client. Returns true if the tape must not handle the message as well. */
  observe(text: string, message: Message): boolean
  /** Forwards a request. Everything that the live server sends leaves by the channel of the request that it belongs to. */
  forward(request: LiveRequest, channel: ReplyChannel): void
  /** The client no longer waits for the response to a request of this channel. */
  cancel(id: Id, channel: ReplyChannel): void
  /** Ends the live server when all requests are answered, or as soon as `stop` is aborted. */
  close(stop: AbortSignal): Promise<void>
}

/** The live server behind a tape: a command that is started for each client, or a URL. */
export type UpstreamTarget =
  | { readonly kind: 'command'; readonly command: readonly [string, ...string[]] }
  | { readonly kind: 'url'; readonly url: URL; readonly headers: Readonly<Record<string, string>> }

/** Returns the link to a live server. Its code is not loaded before the first miss. */
export function upstreamLink(target: UpstreamTarget, turns: TurnStore): OpenLink {
  return target.kind === 'command' ? commandUpstreamLink(target.command) : urlUpstreamLink(target, turns)
}

function commandUpstreamLink(command: readonly [string, ...string[]]): OpenLink {
  return async (handlers) => {
    const { stdioLink } = await import('../../link/stdio.ts')
    return stdioLink({ command, onStderr: (chunk) => process.stderr.write(chunk) })(handlers)
  }
}

/** Some arguments are repeated as headers. Until the server lists its tools, the tape says which. */
function urlUpstreamLink({ url, headers }: UpstreamTarget & { kind: 'url' }, turns: TurnStore): OpenLink {
  return async (handlers) => {
    const { urlLink } = await import('../../link/url-link.ts')
    const schemas = recordedInputSchemas(turns)
    return urlLink({ url, headers, inputSchemaOf: (tool) => schemas.get(tool) })(handlers)
  }
}

/** Returns true in CI, according to the environment variable `CI`. */
export function isCi(env: NodeJS.ProcessEnv = process.env): boolean {
  return !['', 'false', '0'].includes(env['CI'] ?? '')
}
