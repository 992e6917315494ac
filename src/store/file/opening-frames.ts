import { closeSync, openSync, readSync } from 'node:fs'
import { idKey, isId } from '../../protocol/message.ts'
import { isObject, member, type JsonObject, parseJson } from '../../json/parse.ts'

const SCANNED_BYTES = 256 * 1024
/** The handshake methods of all revisions. They are repeated here because a recorder that loads no revisions starts faster. */
const HANDSHAKE_METHODS: ReadonlySet<unknown> = new Set([
  'initialize',
  'notifications/initialized',
  'server/discover',
])

/** The frames that open the sessions of a tape, without their number and time: the next tape of a series begins with them. */
export function openingFrames(path: string): readonly string[] {
  const lines = firstLines(path).flatMap((line) => {
    const [place] = /^\{"n":\d+,"t":[\d.]+/.exec(line) ?? []
    const frame = place === undefined ? undefined : parseJson(line)
    return place !== undefined && isObject(frame) ? [{ frame, rest: line.slice(place.length, -1) }] : []
  })
  const exchanges = new Set(lines.flatMap(({ frame }) => (isOpening(frame) ? [frame['x']] : [])))
  exchanges.delete(undefined) // messages over stdio have no exchange
  const unanswered = new Set<string>()
  return lines
    .filter(({ frame }) => isOpeningExchange(frame, unanswered) || exchanges.has(frame['x']))
    .map(({ rest }) => rest)
}

function firstLines(path: string): readonly string[] {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.allocUnsafe(SCANNED_BYTES)
    const text = bytes.toString('utf8', 0, readSync(file, bytes, 0, SCANNED_BYTES, 0))
    return text.slice(0, text.lastIndexOf('\n')).split('\n')
  } finally {
    closeSync(file)
  }
}

/** Returns true for the opening message and for the first response to it. */
function isOpeningExchange(frame: JsonObject, unanswered: Set<string>): boolean {
  const id = member(frame['msg'], 'id')
  const key = JSON.stringify([frame['server'], frame['conn'], isId(id) ? idKey(id) : null])
  if (!isOpening(frame)) return frame['dir'] === 's2c' && unanswered.delete(key)
  if (isId(id)) unanswered.add(key)
  return true
}

function isOpening({ dir, msg }: JsonObject): boolean {
  return dir === 'c2s' && HANDSHAKE_METHODS.has(member(msg, 'method'))
}
