import type { AnyFetch } from '../record/in-process/record-fetch.ts'
import type { Drift } from '../serve/drift.ts'
import type { SessionPlayerOptions } from '../serve/player/session-player.ts'
import type { Turn } from '../tape/turn.ts'
import { classifyMessage, type Message } from '../protocol/message.ts'
import { parseJson } from '../json/parse.ts'
import type { RecordedHttpSessions } from './http-cast.ts'
import { RecordedEndpointSession } from './played-session.ts'
import { SseResponseStream } from './sse-stream.ts'

/** A server on a tape, and how to play its turns. */
export interface EndpointRecording {
  readonly cast: RecordedHttpSessions
  readonly playing: (turns: readonly Turn[]) => Omit<SessionPlayerOptions, 'send' | 'later'>
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
