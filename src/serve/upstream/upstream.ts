import type { OpenLink } from '../../link/client-link.ts'
import type { Id, Message } from '../../protocol/message.ts'
import type { LiveRequest } from '../player/live-messages.ts'
import type { ReplyChannel } from '../player/reply-channel.ts'
import { recordedInputSchemas } from '../playable-tape.ts'
import type { TurnStore } from '../../tape/turns.ts'

/** Where a request of one client goes that the tape cannot answer, when the user said so. */
export interface UpstreamServer {
  /** Whether there is no tape to play, so that everything goes there. */
  readonly isAlone?: boolean
  /** Hears everything that the client sends; true when it is the live server's business alone. */
  observe(text: string, message: Message): boolean
  /** Answers a request. What else the live server says leaves by the channel of the request that it belongs to. */
  forward(request: LiveRequest, channel: ReplyChannel): void
  /** The client no longer waits for the answer to a request of that channel. */
  cancel(id: Id, channel: ReplyChannel): void
  /** Resolves when everything is answered, or `stop` says not to wait for that, and the live server is gone. */
  close(stop: AbortSignal): Promise<void>
}

/** The live server behind a tape: a command, which is started for each client, or a server that is there. */
export type UpstreamTarget =
  | { readonly kind: 'command'; readonly command: readonly [string, ...string[]] }
  | { readonly kind: 'url'; readonly url: URL; readonly headers: Readonly<Record<string, string>> }

/** The way to a live server. Nothing else in this folder starts a process or reaches out, and nothing of it is loaded before a miss. */
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

/** Whether this runs unattended, by the environment variable that every CI sets. */
export function isCi(env: NodeJS.ProcessEnv = process.env): boolean {
  return !['', 'false', '0'].includes(env['CI'] ?? '')
}
