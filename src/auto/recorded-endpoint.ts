import { setMaxListeners } from 'node:events'
import type { ServerOnTape } from './server-lookup.ts'
import { parseJson } from '../json/parse.ts'
import { classifyMessage, type Message } from '../protocol/message.ts'
import { isOpeningMethod } from '../protocol/revisions/index.ts'
import type { AnyFetch } from '../record/in-process/record-fetch.ts'
import type { Drift } from '../serve/drift.ts'
import { sseEventText } from '../serve/http/sse-writer.ts'
import { clientPause, SystemClock } from '../serve/player/clock.ts'
import type { ReplyChannel } from '../serve/player/reply-channel.ts'
import { type SessionPlayerSetup, SessionPlayer } from '../serve/player/session-player.ts'
import { firstMessageOf } from '../serve/player/turn-filters.ts'
import type { Tape } from '../store/file/read.ts'
import type { Turn } from '../tape/turns.ts'

/** A server on a tape, and how to play its turns. */
export interface EndpointRecording {
  readonly cast: RecordedHttpSessions
  readonly playing: (turns: readonly Turn[]) => SessionPlayerSetup
}

const SESSION_HEADER = 'mcp-session-id'
const SSE_SESSION_PARAM = 'sessionId'

/**
 * The recorded server behind a URL, without a socket: Streamable HTTP, and the legacy SSE transport for those who begin with a
 * stream. `find` looks for it on the tape; when that fails, so does the fetch.
 */
export class RecordedEndpoint {
  readonly #find: () => Promise<EndpointRecording>
  readonly #sessions = new Map<string, RecordedEndpointSession>()
  #recording: Promise<EndpointRecording> | undefined

  constructor(find: () => Promise<EndpointRecording>) {
    this.#find = find
  }

  readonly fetch: AnyFetch = async (target, init) => {
    init?.signal?.throwIfAborted()
    this.#recording ??= this.#find()
    const role = await this.#recording
    const { searchParams } = new URL(target)
    const session =
      new Headers(init?.headers).get(SESSION_HEADER) ?? searchParams.get(SSE_SESSION_PARAM) ?? NO_SESSION
    if (init?.method === 'DELETE') return new Response(null, { status: 200 })
    if (init?.method === 'POST') return this.#post(role, session, init)
    return session === NO_SESSION ? this.#stream(role, target, init) : new Response(null, { status: 405 })
  }

  drifts(): readonly Drift[] {
    return [...this.#sessions.values()].map((session) => session.drift())
  }

  #post(role: EndpointRecording, session: string, { body, signal }: RequestInit): Response {
    const text = typeof body === 'string' ? body : ''
    const message = classifyMessage(parseJson(text))
    const refusal = takeRefusal(role.cast, message)
    if (refusal !== undefined) return refusal
    const begun = session === NO_SESSION && isInitialize(message) ? this.#startSession(role) : undefined
    const played =
      this.#sessions.get(begun ?? session) ?? (session === NO_SESSION ? this.#sessionless(role) : undefined)
    if (played === undefined) return new Response('no such session', { status: 404 })
    const stream = played.post(text, message, signal)
    if (stream === undefined) return new Response(null, { status: 202 })
    return stream.response(begun === undefined ? {} : { [SESSION_HEADER]: begun })
  }

  /** A legacy client begins with a stream, which tells it where to post. */
  #stream(role: EndpointRecording, target: string | URL, init: RequestInit | undefined): Response {
    const begun = this.#startSession(role) ?? NO_SESSION
    const played = this.#sessions.get(begun) ?? this.#sessionless(role)
    const stream = new SseResponseStream(init?.signal)
    const { pathname } = new URL(target)
    stream.write(`${pathname}?${SSE_SESSION_PARAM}=${begun}`, 'endpoint')
    played.useStandingStream(stream)
    return stream.response({})
  }

  /** A session that was recorded and is not played yet. */
  #startSession({ cast, playing }: EndpointRecording): string | undefined {
    const turns = cast.sessions.shift()
    if (turns === undefined) return undefined
    const name = `played-${this.#sessions.size + 1}`
    this.#sessions.set(name, new RecordedEndpointSession(playing(turns)))
    return name
  }

  #sessionless({ cast, playing }: EndpointRecording): RecordedEndpointSession {
    const played = this.#sessions.get(NO_SESSION) ?? new RecordedEndpointSession(playing(cast.sessionless))
    this.#sessions.set(NO_SESSION, played)
    return played
  }
}

/** The name of what is said outside of a session. */
const NO_SESSION = 'none'

function isInitialize(message: Message): boolean {
  return message.kind === 'request' && message.method === 'initialize'
}

function takeRefusal({ refusals }: RecordedHttpSessions, message: Message): Response | undefined {
  const at = refusals.findIndex(({ method }) => message.kind === 'request' && message.method === method)
  const [refusal] = at < 0 ? [] : refusals.splice(at, 1)
  if (refusal === undefined) return undefined
  const { status, text } = refusal
  return new Response(text, { status, headers: { 'content-type': 'application/json' } })
}

/** One client of a played server over HTTP: each answer leaves by the stream that waits for it. */
class RecordedEndpointSession {
  readonly #player: SessionPlayer
  /** Those that wait for an answer, the newest last. */
  readonly #streams = new Set<SseResponseStream>()
  readonly #waiting: string[] = []
  #standing: SseResponseStream | undefined

  constructor(options: SessionPlayerSetup) {
    this.#player = new SessionPlayer({
      ...options,
      send: this.#send,
      afterClientReads: clientPause(new SystemClock()),
    })
    this.#player.start()
  }

  drift(): Drift {
    return this.#player.drift()
  }

  /** Everything leaves by this one stream, as in the legacy SSE transport. */
  useStandingStream(stream: SseResponseStream): void {
    this.#standing = stream
    this.#sendWaiting(stream)
  }

  /** Takes a message; the answer to a request comes by the stream that is returned, or by the standing one. */
  post(
    text: string,
    message: Message,
    signal: AbortSignal | null | undefined,
  ): SseResponseStream | undefined {
    const isAnsweredHere = message.kind === 'request' && this.#standing === undefined
    const stream = isAnsweredHere ? this.#open(signal) : undefined
    setImmediate(() => this.#player.handle(text, message, stream && this.#channelOf(stream)))
    return stream
  }

  #open(signal: AbortSignal | null | undefined): SseResponseStream {
    const stream = new SseResponseStream(signal)
    this.#streams.add(stream)
    this.#sendWaiting(stream)
    return stream
  }

  #channelOf(stream: SseResponseStream): ReplyChannel {
    return {
      scope: '',
      send: (text) => (stream.isOpen ? stream.write(text) : this.#send(text)),
      reply: (text) => {
        if (text === undefined) return
        this.#streams.delete(stream)
        stream.write(text)
        stream.end()
      },
    }
  }

  /** What belongs to no request, or to one that is over, goes with the newest. */
  readonly #send = (text: string): void => {
    const open = [...this.#streams].filter(({ isOpen }) => isOpen)
    const stream = this.#standing ?? open.at(-1)
    if (stream === undefined) this.#waiting.push(text)
    else stream.write(text)
  }

  #sendWaiting(stream: SseResponseStream): void {
    for (const text of this.#waiting.splice(0)) stream.write(text)
  }
}

/** A handshake that the recorded server turned down by its HTTP status. */
interface RecordedRefusal {
  readonly method: string
  readonly status: number
  readonly text: string
}

/** A server's part of a tape, as clients over HTTP ask for it. */
interface RecordedHttpSessions {
  /** What was said in each session, in the order in which they began. */
  readonly sessions: (readonly Turn[])[]
  /** What was said outside of a session: everything, in the modern era. */
  readonly sessionless: readonly Turn[]
  readonly refusals: RecordedRefusal[]
}

export function recordedHttpSessions({ tape, server }: ServerOnTape): RecordedHttpSessions {
  const turns = tape.turns.filter((turn) => firstMessageOf(turn)?.server === server)
  const refused = turns.flatMap((turn) => refusalOf(tape, turn))
  const told = turns.filter((turn) => !refused.some((refusal) => refusal.turn === turn))
  const conns = new Set(told.map((turn) => firstMessageOf(turn)?.conn))
  const ofConn = (conn: number | undefined): readonly Turn[] =>
    told.filter((turn) => firstMessageOf(turn)?.conn === conn)
  const sessions = [...conns].map(ofConn).filter(isRecordedSession)
  return {
    sessions,
    sessionless: told.filter((turn) => !sessions.some((session) => session.includes(turn))),
    refusals: refused.map(({ refusal }) => refusal),
  }
}

// Without a session each exchange is a connection of its own, so more than one turn makes a session.
function isRecordedSession(turns: readonly Turn[]): boolean {
  return turns.length > 1 && turns.some((turn) => methodOf(turn) === 'initialize')
}

function refusalOf(tape: Tape, turn: Turn): { turn: Turn; refusal: RecordedRefusal }[] {
  const [x, method] = [turn.trigger?.x, methodOf(turn)]
  if (x === undefined || method === undefined || !isOpeningMethod(method)) return []
  const head = tape.rest.find((frame) => frame.kind === 'http' && frame.x === x && 'status' in frame.http)
  const status = head?.kind === 'http' && 'status' in head.http ? head.http.status : 200
  if (status < 400) return []
  const text = turn.response?.text ?? tape.strays.find((stray) => stray.x === x)?.text ?? ''
  return [{ turn, refusal: { method, status, text } }]
}

function methodOf({ trigger }: Turn): string | undefined {
  return trigger?.message.kind === 'request' ? trigger.message.method : undefined
}

const KEEP_ALIVE_MS = 2 ** 30
/** A client has one signal for all that is under way. */
const MAX_LISTENERS = 1500

/** A stream of server-sent events that a played server answers with. */
class SseResponseStream {
  readonly #body: ReadableStream<Uint8Array>
  readonly #signal: AbortSignal | null | undefined
  /** A program waits for an answer that is on its way over a socket; without one, it would have nothing to wait for. */
  readonly #open = setInterval(() => {}, KEEP_ALIVE_MS)
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor(signal: AbortSignal | null | undefined) {
    this.#signal = signal
    this.#body = new ReadableStream({
      start: (controller) => void (this.#controller = controller),
      cancel: () => this.#leave(),
    })
    if (!signal) return
    setMaxListeners(MAX_LISTENERS, signal)
    signal.addEventListener('abort', this.#abort)
  }

  get isOpen(): boolean {
    return this.#controller !== undefined
  }

  /** The answer that carries the stream. */
  response(headers: Readonly<Record<string, string>>): Response {
    return new Response(this.#body, { headers: { 'content-type': 'text/event-stream', ...headers } })
  }

  write(data: string, event = 'message'): void {
    this.#controller?.enqueue(Buffer.from(sseEventText(data, { event })))
  }

  end(): void {
    this.#controller?.close()
    this.#leave()
  }

  readonly #abort = (): void => {
    this.#controller?.error(this.#signal?.reason)
    this.#leave()
  }

  #leave(): void {
    this.#controller = undefined
    this.#signal?.removeEventListener('abort', this.#abort)
    clearInterval(this.#open)
  }
}
