import type { AnyFetch } from '../record/record-fetch.ts'
import type { Drift } from '../serve/drift.ts'
import type { PlayerOptions } from '../serve/player.ts'
import type { Turn } from '../tape/turn.ts'
import { classify, type Message } from '../wire/message.ts'
import { parseJson } from '../wire/parse-json.ts'
import type { HttpCast } from './http-cast.ts'
import { PlayedSession } from './played-session.ts'
import { SseStream } from './sse-stream.ts'

/** A server on a tape, and how to play its turns. */
export interface HttpRole {
  readonly cast: HttpCast
  readonly playing: (turns: readonly Turn[]) => Omit<PlayerOptions, 'send' | 'later'>
}

const SESSION = 'mcp-session-id'
const SSE_SESSION = 'sessionId'

/**
 * The recorded server behind a URL, without a socket: Streamable HTTP, and the legacy SSE transport for those who begin with a
 * stream. `find` looks for it on the tape; when that fails, so does the fetch.
 */
export class PlayedEndpoint {
  readonly #find: () => Promise<HttpRole>
  readonly #sessions = new Map<string, PlayedSession>()
  #role: Promise<HttpRole> | undefined

  constructor(find: () => Promise<HttpRole>) {
    this.#find = find
  }

  readonly fetch: AnyFetch = async (target, init) => {
    init?.signal?.throwIfAborted()
    this.#role ??= this.#find()
    const role = await this.#role
    const { searchParams } = new URL(target)
    const session = new Headers(init?.headers).get(SESSION) ?? searchParams.get(SSE_SESSION) ?? NONE
    if (init?.method === 'DELETE') return new Response(null, { status: 200 })
    if (init?.method === 'POST') return this.#post(role, session, init)
    return session === NONE ? this.#stream(role, target, init) : new Response(null, { status: 405 })
  }

  drifts(): readonly Drift[] {
    return [...this.#sessions.values()].map((session) => session.drift())
  }

  #post(role: HttpRole, session: string, { body, signal }: RequestInit): Response {
    const text = typeof body === 'string' ? body : ''
    const message = classify(parseJson(text))
    const refusal = takeRefusal(role.cast, message)
    if (refusal !== undefined) return refusal
    const begun = session === NONE && isInitialize(message) ? this.#begin(role) : undefined
    const played =
      this.#sessions.get(begun ?? session) ?? (session === NONE ? this.#outside(role) : undefined)
    if (played === undefined) return new Response('no such session', { status: 404 })
    const stream = played.post(text, message, signal)
    if (stream === undefined) return new Response(null, { status: 202 })
    return stream.response(begun === undefined ? {} : { [SESSION]: begun })
  }

  /** A legacy client begins with a stream, which tells it where to post. */
  #stream(role: HttpRole, target: string | URL, init: RequestInit | undefined): Response {
    const begun = this.#begin(role) ?? NONE
    const played = this.#sessions.get(begun) ?? this.#outside(role)
    const stream = new SseStream(init?.signal)
    const { pathname } = new URL(target)
    stream.event(`${pathname}?${SSE_SESSION}=${begun}`, 'endpoint')
    played.stand(stream)
    return stream.response({})
  }

  /** A session that was recorded and is not played yet. */
  #begin({ cast, playing }: HttpRole): string | undefined {
    const turns = cast.sessions.shift()
    if (turns === undefined) return undefined
    const name = `played-${this.#sessions.size + 1}`
    this.#sessions.set(name, new PlayedSession(playing(turns)))
    return name
  }

  #outside({ cast, playing }: HttpRole): PlayedSession {
    const played = this.#sessions.get(NONE) ?? new PlayedSession(playing(cast.sessionless))
    this.#sessions.set(NONE, played)
    return played
  }
}

/** The name of what is said outside of a session. */
const NONE = 'none'

function isInitialize(message: Message): boolean {
  return message.kind === 'request' && message.method === 'initialize'
}

function takeRefusal({ refusals }: HttpCast, message: Message): Response | undefined {
  const at = refusals.findIndex(({ method }) => message.kind === 'request' && message.method === method)
  const [refusal] = at < 0 ? [] : refusals.splice(at, 1)
  if (refusal === undefined) return undefined
  const { status, text } = refusal
  return new Response(text, { status, headers: { 'content-type': 'application/json' } })
}
