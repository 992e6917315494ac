import { findRange, replaceRange } from '../../json/find-replace.ts'
import { isObject, member, parseJson, type JsonObject } from '../../json/parse.ts'
import { classifyMessage, type Message } from '../../protocol/message.ts'
import type { ImportedFrame, ImportedRecording } from './import-format.ts'

/**
 * Repairs what recorders get wrong, so that the recording can be served: responses that were written before their requests,
 * and answers to `initialize` that clients refuse. Each repair is a note.
 */
export function repairRecording<Recording extends ImportedRecording>(recording: Recording): Recording {
  const entries = recording.frames.map((frame): Entry => ({ frame, ...factsOf(frame) }))
  const notes = [...(recording.notes ?? [])]
  const ordered = requestsFirst(entries, notes)
  const frames = completeHandshakes(ordered, notes)
  return { ...recording, frames, notes }
}

/** A frame, and what the repairs need of its message. The message itself is not kept: recordings have many. */
interface Entry {
  readonly frame: ImportedFrame
  readonly kind?: 'request' | 'response'
  readonly id?: unknown
  readonly method?: string
}

function factsOf(frame: ImportedFrame): Omit<Entry, 'frame'> {
  const message = messageOf(frame)
  if (message?.kind === 'request') return { kind: 'request', id: message.id, method: message.method }
  return message?.kind === 'response' ? { kind: 'response', id: message.id } : {}
}

function messageOf(frame: ImportedFrame): Message | undefined {
  return frame.kind === 'message' ? classifyMessage(parseJson(frame.text)) : undefined
}

interface Mark {
  readonly kind: 'request' | 'response'
  readonly index: number
}

/** Recorders that read each direction in a thread of its own sometimes write a response before its request. */
function requestsFirst(entries: readonly Entry[], notes: string[]): readonly Entry[] {
  const requestBefore = new Map<number, number>()
  for (const marks of marksById(entries).values()) {
    let open = 0
    let early: number | undefined
    for (const [nth, { kind, index }] of marks.entries()) {
      if (kind === 'response' && open > 0) open--
      else if (kind === 'response') early = index
      else if (early === undefined || marks[nth + 1]?.kind === 'response') open++
      else requestBefore.set(early, index)
      if (kind === 'request') early = undefined
    }
  }
  if (requestBefore.size === 0) return entries
  notes.push(
    `${requestBefore.size} ${requestBefore.size === 1 ? 'response was' : 'responses were'} recorded before the request; the order is repaired`,
  )
  const responseAfter = new Map([...requestBefore].map(([response, request]) => [request, response]))
  return entries.flatMap((entry, index) => {
    if (requestBefore.has(index)) return []
    const moved = entries[responseAfter.get(index) ?? -1]
    return moved === undefined ? [entry] : [entry, moved]
  })
}

/** The requests with one id, from one side, on one connection, and their responses. */
function marksById(entries: readonly Entry[]): ReadonlyMap<string, readonly Mark[]> {
  const marks = new Map<string, Mark[]>()
  for (const [index, { frame, kind, id }] of entries.entries()) {
    if (frame.kind !== 'message' || kind === undefined) continue
    const isByClient = (frame.dir === 'c2s') === (kind === 'request')
    const key = JSON.stringify([frame.server, frame.conn ?? 1, isByClient, id])
    const known = marks.get(key) ?? []
    marks.set(key, known)
    known.push({ kind, index })
  }
  return marks
}

/** Clients end the session if the answer to `initialize` has no version, capabilities or name of the server. */
function completeHandshakes(entries: readonly Entry[], notes: string[]): readonly ImportedFrame[] {
  const openings = new Map<string, unknown>()
  const added = new Set<string>()
  const frames = entries.map(({ frame, kind, id, method }) => {
    if (frame.kind !== 'message') return frame
    const place = JSON.stringify([frame.server, frame.conn ?? 1, id])
    if (frame.dir === 'c2s' && kind === 'request' && method === 'initialize')
      openings.set(place, member(parseJson(frame.text), 'params'))
    if (frame.dir !== 's2c' || kind !== 'response' || !openings.has(place)) return frame
    const params = openings.get(place)
    openings.delete(place)
    const result = member(parseJson(frame.text), 'result')
    if (!isObject(result)) return frame
    const missing = Object.entries(usualResult(entries, params)).filter(
      ([name]) => !Object.hasOwn(result, name),
    )
    if (missing.length === 0) return frame
    for (const [name] of missing) added.add(name)
    return { ...frame, text: withMembers(frame.text, Object.fromEntries(missing)) }
  })
  if (added.size > 0)
    notes.push(
      `the recorded answer to initialize has no ${[...added].join(', ')}: added, because clients refuse it otherwise`,
    )
  return frames
}

function usualResult(entries: readonly Entry[], params: unknown): JsonObject {
  const asked = member(params, 'protocolVersion')
  return {
    protocolVersion: typeof asked === 'string' ? asked : '2025-06-18',
    capabilities: usedCapabilities(entries),
    serverInfo: { name: 'recorded server', version: '0' },
  }
}

function usedCapabilities(entries: readonly Entry[]): JsonObject {
  const methods = entries.flatMap(({ method }) => method ?? [])
  const areas = ['tools', 'prompts', 'resources'].filter((area) =>
    methods.some((name) => name.startsWith(`${area}/`)),
  )
  return Object.fromEntries(areas.map((area) => [area, {}]))
}

/** Adds members to the result of a response. The other members keep their spelling. */
function withMembers(text: string, members: JsonObject): string {
  const range = findRange(text, ['result'])
  if (range === undefined) return text
  const inside = text.slice(range.start + 1, range.end - 1)
  const start = JSON.stringify(members).slice(1, -1)
  return replaceRange(text, range, `{${start}${inside.trim() === '' ? '' : `,${inside}`}}`)
}
