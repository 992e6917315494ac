import type { TurnStore } from '../tape/turn-store.ts'
import type { OpenLink } from '../link/client-link.ts'
import { ToolSchemas } from './player/tool-schemas.ts'

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
    const { stdioLink } = await import('../link/stdio.ts')
    return stdioLink({ command, onStderr: (chunk) => process.stderr.write(chunk) })(handlers)
  }
}

/** Arguments that a tool wants repeated as headers are known from what the server said of its tools. */
function urlUpstreamLink({ url, headers }: UpstreamTarget & { kind: 'url' }, turns: TurnStore): OpenLink {
  return async (handlers) => {
    const { urlLink } = await import('../link/url-link.ts')
    const schemas = new ToolSchemas(turns)
    return urlLink({ url, headers, inputSchemaOf: schemas.of })({
      ...handlers,
      onText: (text, of) => {
        schemas.learn(text)
        handlers.onText(text, of)
      },
    })
  }
}
