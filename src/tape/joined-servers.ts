import type { EventFrame, Frame } from './frame.ts'
import type { TapeHeader, TapeServer } from './header.ts'

/** The header, with the servers that joined the recording after it was written: each has a `server` event. */
export function withLateServers(header: TapeHeader, frames: readonly Frame[]): TapeHeader {
  const joined = frames.flatMap((frame) => (frame.kind === 'event' ? lateServer(frame) : []))
  if (joined.length === 0) return header
  return { ...header, servers: { ...header.servers, ...Object.fromEntries(joined) } }
}

function lateServer({ event, server, details }: EventFrame): readonly [name: string, info: TapeServer][] {
  if (event !== 'server' || server === undefined) return []
  const { transport, command, url, env } = details
  const info = {
    transport: typeof transport === 'string' ? transport : 'unknown',
    ...(isTextList(command) && { command }),
    ...(typeof url === 'string' && { url }),
    ...(isTextList(env) && { env }),
  }
  return [[server, info]]
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
