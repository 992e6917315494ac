import type { OpenLink } from '../link/client-link.ts'
import type { Direction, Id } from '../protocol/message.ts'
import { isOpeningMethod } from '../protocol/revisions/index.ts'
import { createRecording } from '../record/recording.ts'
import type { StdioRecorder } from '../record/stdio/stdio-recorder.ts'
import type { RecordingSummary } from '../record/tape-log.ts'
import type { TurnStore } from '../tape/turns.ts'
import type { ReplayTarget } from './options.ts'
import { isToolsQuestion } from './plan/tool-safety.ts'
import { isOwnHandshake, withHandshakeId } from './session/handshake.ts'

interface RecordTargetOptions {
  readonly path: string | undefined
  /** The id of the tape that is replayed. */
  readonly of: string
  /** The handshake that the user asked for. */
  readonly handshake: string | undefined
  /** The messages of the tape that is replayed. */
  readonly turns: TurnStore
  readonly command: readonly string[]
  readonly secrets: readonly string[]
}

interface RecordedTarget {
  readonly target: ReplayTarget
  /** Adds an event to the tape of the run, if there is one and a connection is open. */
  readonly addEvent: (event: string, details: Readonly<Record<string, unknown>>) => void
  /** Ends the tape. Returns `undefined` if there is none. */
  readonly closeTape: () => Promise<RecordingSummary | undefined>
}

/**
 * Records the target, if the user wants a tape of the run. Reelay's own question for the tools is left out, because the recorded
 * client did not send it. Its own handshake is taped as that of the recorded client, and left out if there was none. Tags of the tape say which tape was replayed, and whose handshake it has.
 */
export function recordTarget(
  target: ReplayTarget,
  { path, of, handshake, turns, command, secrets }: RecordTargetOptions,
): RecordedTarget {
  if (path === undefined) return { target, addEvent: () => {}, closeTape: async () => undefined }
  const recording = createRecording({
    tape: path,
    tags: { 'replay-of': of, handshake: handshake ?? 'recorded' },
  })
  const info = command.length > 0 ? { transport: 'stdio', command } : { transport: 'http', url: target.name }
  const named = Object.fromEntries(secrets.map((value, at) => [`SECRET_${at}`, value]))
  const env = { ...process.env, ...named }
  const recordedHandshake = openingIdOf(turns)
  const asTaped = (text: string): string | undefined => {
    if (isToolsQuestion(text)) return undefined
    if (handshake !== undefined || !isOwnHandshake(text)) return text
    return recordedHandshake === undefined ? undefined : withHandshakeId(text, recordedHandshake)
  }
  let latest: StdioRecorder | undefined
  const open: OpenLink = async (handlers) => {
    const tape = recording.pipes({ server: 'server', info, env })
    latest = tape
    const [sent, received] = [tape.recordDirection('c2s'), tape.recordDirection('s2c')]
    const link = await target.open({
      ...handlers,
      onText: (text) => {
        const taped = asTaped(text)
        if (taped === undefined) handlers.onText(text)
        else received.pass(asLineBytes(taped), () => handlers.onText(text))
      },
    })
    return {
      abort: (key) => link.abort?.(key) ?? false,
      send: (text) => {
        const taped = asTaped(text)
        if (taped === undefined) link.send(text)
        else sent.pass(asLineBytes(taped), () => link.send(text))
      },
      close: (how) => link.close(how),
    }
  }
  return {
    target: { ...target, open },
    addEvent: (event, details) => latest?.event(event, details),
    closeTape: () => recording.close(),
  }
}

/** A target whose sessions are written to a tape, once the server has accepted the handshake. */
export function recordSessions(
  target: ReplayTarget,
  { path, command }: { readonly path: string; readonly command: readonly string[] },
): {
  readonly target: ReplayTarget
  readonly onOpened: () => void
  readonly closeTape: () => Promise<RecordingSummary>
} {
  const recording = createRecording({ tape: path })
  const info = command.length > 0 ? { transport: 'stdio', command } : { transport: 'http', url: target.name }
  let waiting: (readonly [Direction, string])[] = []
  let tape: Readonly<Record<Direction, ReturnType<StdioRecorder['recordDirection']>>> | undefined
  const write = (direction: Direction, text: string): void => {
    if (tape === undefined) waiting.push([direction, text])
    else tape[direction].pass(asLineBytes(text), () => {})
  }
  const onOpened = (): void => {
    const recorder = recording.pipes({ server: 'server', info, env: process.env })
    tape = { c2s: recorder.recordDirection('c2s'), s2c: recorder.recordDirection('s2c') }
    for (const [direction, text] of waiting) write(direction, text)
  }
  const open: OpenLink = async (handlers) => {
    waiting = [] // what an attempt that the server refused has left
    const link = await target.open({
      ...handlers,
      onText: (text, of) => {
        write('s2c', text)
        handlers.onText(text, of)
      },
    })
    return {
      abort: (key) => link.abort?.(key) ?? false,
      send: (text, message, onSettled) => {
        write('c2s', text)
        link.send(text, message, onSettled)
      },
      close: (how) => link.close(how),
    }
  }
  return { target: { ...target, open }, onOpened, closeTape: () => recording.close() }
}

function asLineBytes(text: string): Buffer {
  return Buffer.from(`${text}\n`)
}

function openingIdOf(turns: TurnStore): Id | undefined {
  for (let place = 0; place < turns.size; place++) {
    if (!isOpeningMethod(turns.summary(place).method)) continue
    const message = turns.at(place)?.trigger?.message
    if (message?.kind === 'request') return message.id
  }
  return undefined
}
