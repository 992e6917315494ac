import type { TapeReader } from '../store/file/read.ts'
import type { EventFrame, Frame } from '../tape/frame.ts'
import { selectServers } from '../tape/server-filter.ts'
import { member, parseJson } from '../json/parse.ts'

/** Returns the tape as if only these servers had been recorded. Frames keep their numbers; the end frame counts what is left. */
export async function filterTapeByServer(tape: TapeReader, filter: string): Promise<TapeReader> {
  const { header, path } = tape
  const meant = new Set(selectServers({ path, names: await serverNamesOn(tape) }, filter))
  const part = { meant, copied: await countCopiedFrames(tape, meant) }
  const servers = Object.entries(header.servers).filter(([name]) => meant.has(name))
  return {
    ...tape,
    header: { ...header, servers: Object.fromEntries(servers) },
    frames: () => filteredFrames(tape, part),
    batches: async function* () {
      for await (const frame of filteredFrames(tape, part)) yield [frame]
    },
  }
}

interface FilteredServers {
  readonly meant: ReadonlySet<string>
  /** How many of the remaining frames were copied from the previous tape. */
  readonly copied: number
}

/** Servers from the header, and servers that joined later. */
async function serverNamesOn(tape: TapeReader): Promise<readonly string[]> {
  const names = new Set(Object.keys(tape.header.servers))
  for await (const frame of tape.frames()) if ('server' in frame) names.add(frame.server ?? '')
  names.delete('')
  return [...names]
}

/** A tape that continues another one after a size limit starts with the number of frames it copied from there. */
async function countCopiedFrames(tape: TapeReader, meant: ReadonlySet<string>): Promise<number> {
  let [copied, left] = [0, 0]
  for await (const frame of tape.frames()) {
    if (left-- > 0) copied += isKept(frame, meant) ? 1 : 0
    else if (frame.kind !== 'event' || frame.event !== 'continued') return copied
    else left = Number(frame.details['frames'])
  }
  return copied
}

async function* filteredFrames(tape: TapeReader, { meant, copied }: FilteredServers): AsyncGenerator<Frame> {
  let count = 0
  for await (const frame of tape.frames()) {
    if (!isKept(frame, meant)) continue
    count++
    if (frame.kind !== 'event') yield frame
    else if (frame.event === 'continued') yield { ...frame, details: { ...frame.details, frames: copied } }
    else yield frame.event === 'end' ? adjustedEndFrame(frame, count, meant) : frame
  }
}

/** Frames that belong to no server are kept, except the names of hosts that the proxy passed through. */
function isKept(frame: Frame, meant: ReadonlySet<string>): boolean {
  const server = frame.kind === 'other' ? serverOfLine(frame.line) : frame.server
  if (server !== undefined) return meant.has(server)
  return frame.kind !== 'event' || frame.details['host'] === undefined
}

function serverOfLine(line: string): string | undefined {
  const server = member(parseJson(line), 'server')
  return typeof server === 'string' ? server : undefined
}

function adjustedEndFrame(end: EventFrame, count: number, meant: ReadonlySet<string>): EventFrame {
  const { lost = 0, servers, ...details } = end.details
  const joined = Array.isArray(servers) ? servers.filter((name) => meant.has(String(name))) : []
  return {
    ...end,
    details: {
      ...details,
      frames: count + Number(lost),
      ...(lost !== 0 && { lost }),
      ...(joined.length > 0 && { servers: joined }),
    },
  }
}
