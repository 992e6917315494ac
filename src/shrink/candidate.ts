import { findRange, replaceRange } from '../json/find-replace.ts'
import { canonicalJson } from '../json/canonical.ts'
import { parseJson } from '../json/parse.ts'
import type { JsonPath } from '../json/path.ts'
import { classifyMessage, idToJson } from '../protocol/message.ts'
import { isHandshakeMethod } from '../protocol/revisions/index.ts'
import { callKey, cancelledKey, linkNameOf } from '../replay/plan/plan.ts'
import { openTape, type Tape } from '../store/file/read.ts'
import { createTape } from '../store/file/write.ts'
import { encodeFrame } from '../tape/codec.ts'
import type { Frame } from '../tape/frame.ts'
import { encodeHeader } from '../tape/header.ts'
import { messagesOfTurn, type RecordedMessage, type Turn } from '../tape/turns.ts'

/** A part of the session on a tape, with smaller values. */
export interface Candidate {
  /** The positions of the turns that are left, without those of the handshake, which always stay. */
  readonly turns: ReadonlySet<number>
  /** New values in messages: the arguments of a request, or the result of a response. */
  readonly edits: ReadonlyMap<number, ValueEdit>
  /** One request at a time, instead of as many as on the tape. */
  readonly isSequential: boolean
  /** With the pauses of the tape. */
  readonly hasPauses: boolean
  /** All requests on one connection, which means one process of a stdio server. */
  readonly isOneConnection: boolean
}

export interface ValueEdit {
  readonly side: 'request' | 'response'
  readonly path: JsonPath
  readonly value: unknown
}

/** Equal candidates have the same key, so that none is tried twice. */
export function candidateKey({ turns, edits, ...modes }: Candidate): string {
  const sorted = [...edits].toSorted(([one], [other]) => one - other)
  const values = sorted.filter(([turn]) => turns.has(turn)).map(([turn, { value }]) => [turn, value])
  return canonicalJson({ ...modes, turns: [...turns].toSorted((one, other) => one - other), values })
}

const NO_TURN_LEFT: Turn = { trigger: undefined, steps: [], response: undefined }

/** The tape of a candidate. Turns keep their positions and frames, so bindings that were found on the whole tape still fit. */
export function candidateTape(tape: Tape, { turns, edits, isOneConnection }: Candidate): Tape {
  const onOne = isOneConnection ? firstConnectionOf(tape.turns) : undefined
  const kept = tape.turns.map((turn, place) => {
    if (!turns.has(place) && !isHandshakeTurn(turn)) return NO_TURN_LEFT
    const edit = edits.get(place)
    const edited = edit === undefined ? turn : editedTurn(turn, edit)
    return onOne === undefined ? edited : mapMessages(edited, (message) => ({ ...message, conn: onOne }))
  })
  return { ...tape, turns: kept }
}

export function isHandshakeTurn({ trigger }: Turn): boolean {
  const message = trigger?.message
  return message !== undefined && 'method' in message && isHandshakeMethod(message.method)
}

/**
 * The tape with a response to every request that the client did not cancel. A replay does not wait for a response that is not on the tape,
 * and would not see that the server ends or hangs again.
 */
export function withAwaitedResponses(tape: Tape): Tape {
  const cancelled = new Set(
    tape.turns.flatMap((turn) => {
      const message = turn.trigger?.message
      const key = message?.kind === 'notification' ? cancelledKey(linkNameOf(turn), message) : undefined
      return key ?? []
    }),
  )
  const frames = tape.turns.flatMap(messagesOfTurn).map(({ n }) => n)
  let last = tape.frames
  for (const n of frames) last = Math.max(last, n)
  const turns = tape.turns.map((turn): Turn => {
    const { trigger, response, steps } = turn
    if (trigger?.message.kind !== 'request' || response !== undefined) return turn
    if (cancelled.has(callKey(linkNameOf(turn), trigger.message.id))) return turn
    const message = classifyMessage({ jsonrpc: '2.0', id: trigger.message.id, result: {} })
    if (message.kind === 'batch') return turn
    const text = `{"jsonrpc":"2.0","id":${idToJson(trigger.message.id)},"result":{}}`
    const { id: _, item: __, ...origin } = trigger
    const awaited: RecordedMessage = { ...origin, n: ++last, dir: 's2c', text, message }
    return { ...turn, response: awaited, steps: [...steps, { kind: 'respond', message: awaited }] }
  })
  return { ...tape, turns }
}

function firstConnectionOf(turns: readonly Turn[]): number | undefined {
  return turns.find(({ trigger }) => trigger !== undefined)?.trigger?.conn
}

/** The turn with another value in its request or its response. */
export function editedTurn(turn: Turn, edit: ValueEdit): Turn {
  const changed = edit.side === 'request' ? turn.trigger : turn.response
  return mapMessages(turn, (message) => (message === changed ? editedMessage(message, edit) : message))
}

function editedMessage(message: RecordedMessage, edit: ValueEdit): RecordedMessage {
  const text = editedText(message.text, edit)
  const parsed = classifyMessage(parseJson(text))
  const { id: _, ...rest } = message // its range in the text may have moved
  return parsed.kind === 'batch' ? message : { ...rest, text, message: parsed }
}

function editedText(text: string, { path, value }: ValueEdit): string {
  const range = findRange(text, path)
  return range === undefined ? text : replaceRange(text, range, JSON.stringify(value))
}

function mapMessages(turn: Turn, change: (message: RecordedMessage) => RecordedMessage): Turn {
  const { trigger, response } = turn
  return {
    ...turn,
    trigger: trigger && change(trigger),
    response: response && change(response),
    steps: turn.steps.map((step) =>
      step.kind === 'ask'
        ? { ...step, request: change(step.request), answer: step.answer && change(step.answer) }
        : { ...step, message: change(step.message) },
    ),
  }
}

/** Writes the part of a tape that a candidate has left. Frames keep their numbers. */
export async function writeCandidate(tape: Tape, candidate: Candidate, to: string): Promise<string> {
  const texts = new Map<number, string>()
  const exchanges = new Set<string>()
  for (const message of candidateTape(tape, candidate).turns.flatMap(messagesOfTurn)) {
    texts.set(message.n, message.item === undefined ? message.text : WHOLE_BATCH)
    exchanges.add(`${message.server} ${message.conn} ${message.x}`)
  }
  const writer = createTape(to)
  writer.line(encodeHeader(tape.header))
  let frames = 0
  for await (const frame of (await openTape(tape.path)).frames()) {
    const kept = keptFrame(frame, texts, exchanges)
    if (kept === undefined) continue
    frames++
    const isEnd = kept.kind === 'event' && kept.event === 'end'
    writer.line(encodeFrame(isEnd ? { ...kept, details: { frames } } : kept))
  }
  writer.close()
  return writer.path
}

/** A batch stays whole if one of its messages is left. */
const WHOLE_BATCH = ''

function keptFrame(
  frame: Frame,
  texts: ReadonlyMap<number, string>,
  exchanges: ReadonlySet<string>,
): Frame | undefined {
  switch (frame.kind) {
    case 'message': {
      const text = texts.get(frame.n)
      if (text === undefined) return undefined
      return text === WHOLE_BATCH ? frame : { ...frame, text }
    }
    case 'http':
      return exchanges.has(`${frame.server} ${frame.conn} ${frame.x}`) ? frame : undefined
    case 'event':
      return frame
    case 'raw':
    case 'stderr':
    case 'other':
      return undefined
  }
}
