import { idKey } from '../wire/id.ts'
import { rangeAt } from '../wire/members.ts'
import type { ExpectedBytes, LiveCall } from './live-call.ts'

/** The parts of a recorded answer around its id. */
export function bytesAroundId(text: string): ExpectedBytes | undefined {
  const range = rangeAt(text, ['id'])
  return range && { head: text.slice(0, range.start), tail: text.slice(range.end) }
}

/** The open call whose recorded answer this is, to the byte; found without parsing it. */
export function sameBytes(text: string, open: ReadonlyMap<string, LiveCall>): LiveCall | undefined {
  const id = LAST_ID.exec(text.slice(-TAIL))?.[1] ?? FIRST_ID.exec(text.slice(0, TAIL))?.[1]
  if (id === undefined) return undefined
  const call = open.get(idKey(Number(id)))
  if (call?.expected === undefined) return undefined
  const { head, tail } = call.expected
  const isSame =
    text.length === head.length + id.length + tail.length &&
    text.startsWith(head) &&
    text.endsWith(tail) &&
    text.startsWith(id, head.length)
  return isSame ? call : undefined
}

const TAIL = 48
// Servers write the id first or last; the guess is checked against the whole text, so that a wrong one does no harm.
const LAST_ID = /"id":(\d+)\}$/
const FIRST_ID = /^\{"jsonrpc":"2\.0","id":(\d+),/
