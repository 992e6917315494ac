import { numberAtEdge } from '../wire/edge-id.ts'
import type { LiveCall } from './live-call.ts'
import type { OpenCalls } from './open-calls.ts'

/** The open call whose recorded answer this is, to the byte but for its id; found without parsing it. */
export function sameBytes(text: string, open: Pick<OpenCalls, 'get'>): LiveCall | undefined {
  const place = numberAtEdge(text)
  if (place === undefined) return undefined
  const call = open.get(Number(text.slice(place.start, place.end)))
  if (call?.expected === undefined) return undefined
  const { text: recorded, id } = call.expected
  const [head, tail] = [text.slice(0, place.start), text.slice(place.end)]
  // The guess where the id stands is checked against the whole text, so that a wrong one does no harm.
  const isSame =
    recorded.length === head.length + id.length + tail.length &&
    recorded.startsWith(head) &&
    recorded.startsWith(id, head.length) &&
    recorded.endsWith(tail)
  return isSame ? call : undefined
}
