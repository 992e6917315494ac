import type { SdkSession } from '../support/sdk-session.ts'
import { member, type JsonObject } from '../../src/wire/message.ts'

/** What a session brought: what its calls returned, and what the server said of its own accord. */
export interface Account {
  /** The same in every run against the same server. */
  readonly steady: unknown
  /** Made up by the server in this very run: times, random ids. */
  readonly fresh: unknown
  /** The server's own requests. */
  readonly asked: readonly JsonObject[]
  /** The server's notifications, without progress. */
  readonly told: readonly JsonObject[]
  readonly progress: readonly JsonObject[]
  readonly progressTokens: readonly unknown[]
}

export interface Results {
  readonly steady: unknown
  readonly fresh: unknown
  /** The progress that reached the caller. */
  readonly progress: readonly object[]
}

export function accountOf({ received }: SdkSession, { steady, fresh }: Results): Account {
  const own = received.filter((message) => 'method' in message)
  const isProgress = ({ method }: JsonObject): boolean => method === 'notifications/progress'
  const progress = own.filter(isProgress).map(({ params }) => params as JsonObject)
  return {
    steady,
    fresh,
    asked: own.filter((message) => 'id' in message).map(withoutId),
    told: own.filter((message) => !('id' in message) && !isProgress(message)).map(withoutId),
    progress: progress.map(({ progressToken: _, ...rest }) => rest),
    progressTokens: [...new Set(progress.map(({ progressToken }) => progressToken))],
  }
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

function withoutId({ method, params }: JsonObject): JsonObject {
  return { method, params }
}
