import type { SdkSession } from '../support/sdk-session.ts'
import { isObject, member, type JsonObject } from '../../src/json/parse.ts'

/** What a session brought: what its calls returned, and what the server said of its own accord. */
export interface Account {
  /** Who the server says it is, what it can do, how it wants to be used. */
  readonly server: unknown
  /** The same in every run against the same server. */
  readonly steady: unknown
  /** Made up by the server in this very run: times, random ids. */
  readonly fresh: unknown
  /** The server's own requests. */
  readonly asked: readonly JsonObject[]
  /** The server's notifications, without progress. */
  readonly told: readonly JsonObject[]
  readonly progress: readonly JsonObject[]
  /** The answers that came under the ids which progress was told for: both SDKs use the id as the token. */
  readonly progressed: readonly unknown[]
}

export interface Results {
  readonly steady: unknown
  readonly fresh: unknown
  /** The progress that reached the caller. */
  readonly progress: readonly object[]
}

export function accountOf({ client, received }: SdkSession, { steady, fresh }: Results): Account {
  const own = received.filter((message) => 'method' in message)
  const tokens = progressTokens(received)
  return {
    server: [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()],
    steady,
    fresh,
    asked: own.filter((message) => 'id' in message).map(withoutId),
    told: own.filter((message) => !('id' in message) && !isProgress(message)).map(withoutId),
    progress: own.filter(isProgress).map(withoutToken),
    progressed: received
      .filter(({ id, result }) => result && tokens.includes(id))
      .map(({ result }) => result),
  }
}

export function progressTokens(received: readonly JsonObject[]): readonly unknown[] {
  return [...new Set(received.filter(isProgress).map(({ params }) => member(params, 'progressToken')))]
}

/** What a call came to: SDK v1 puts `MCP error <code>` before the server's words, v2 does not. */
export async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call
  } catch (error) {
    const message = String(member(error, 'message')).replace(/^(MCP error -\d+: )+/, '')
    return { code: member(error, 'code'), message, data: member(error, 'data') }
  }
}

function isProgress({ method }: JsonObject): boolean {
  return method === 'notifications/progress'
}

function withoutId({ method, params }: JsonObject): JsonObject {
  return { method, params }
}

function withoutToken({ params }: JsonObject): JsonObject {
  const { progressToken: _, ...rest } = isObject(params) ? params : {}
  return rest
}
