import type { TapeReader } from '../store/file/read.ts'
import type { Frame } from '../tape/frame.ts'
import type { TapeHeader } from '../tape/header.ts'
import { withLateServers } from '../tape/joined-servers.ts'
import { selectServers } from '../tape/server-filter.ts'
import { member } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'

/** The tape as if only these servers had been recorded. What belongs to no server, such as the end, stays. */
export async function selectTapeServers(reader: TapeReader, filter: string): Promise<TapeReader> {
  const header = await headerWithServers(reader, filter)
  const meant = selectServers({ path: reader.path, names: Object.keys(header.servers) }, filter)
  const isShown = (frame: Frame): boolean => {
    const server = serverOfFrame(frame)
    return typeof server !== 'string' || meant.includes(server)
  }
  const servers = Object.entries(header.servers).filter(([name]) => meant.includes(name))
  return {
    ...reader,
    header: { ...header, servers: Object.fromEntries(servers) },
    async *batches() {
      for await (const batch of reader.batches()) yield batch.filter(isShown)
    },
    async *frames() {
      for await (const frame of reader.frames()) if (isShown(frame)) yield frame
    },
  }
}

/** The header with the servers that a filter can mean. Those that joined later are known when all of the tape was looked at. */
async function headerWithServers(reader: TapeReader, filter: string): Promise<TapeHeader> {
  const { header } = reader
  if (Object.hasOwn(header.servers, filter)) return header
  const joined: Frame[] = []
  for await (const batch of reader.batches())
    for (const frame of batch) if (frame.kind === 'event' && frame.event === 'server') joined.push(frame)
  return withLateServers(header, joined)
}

function serverOfFrame(frame: Frame): unknown {
  return frame.kind === 'other' ? member(parseJson(frame.line), 'server') : frame.server
}
