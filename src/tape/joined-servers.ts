import type { EventFrame, Frame } from './frame.ts'
import type { Header, ServerInfo } from './header.ts'

/** The header, with the servers that joined the recording after it was written: each has a `server` event. */
export function withJoinedServers(header: Header, frames: readonly Frame[]): Header {
  const joined = frames.flatMap((frame) => (frame.kind === 'event' ? joinedServer(frame) : []))
  if (joined.length === 0) return header
  return { ...header, servers: { ...header.servers, ...Object.fromEntries(joined) } }
}

function joinedServer({ event, server, details }: EventFrame): readonly [name: string, info: ServerInfo][] {
  if (event !== 'server' || server === undefined) return []
  const { transport, command, url, env } = details
  const info = {
    transport: typeof transport === 'string' ? transport : 'unknown',
    ...(isTexts(command) && { command }),
    ...(typeof url === 'string' && { url }),
    ...(isTexts(env) && { env }),
  }
  return [[server, info]]
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
