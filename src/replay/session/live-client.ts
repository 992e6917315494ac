import { ReelayError } from '../../errors.ts'
import { member, parseJson, type JsonObject } from '../../json/parse.ts'
import { classifyMessage, META_KEYS, type Response } from '../../protocol/message.ts'
import {
  newestSessionRevision,
  newestStatelessRevision,
  sessionRevisionOf,
} from '../../protocol/revisions/index.ts'
import type { Revision } from '../../protocol/revisions/revision.ts'
import { VERSION } from '../../version.ts'
import type { ReplayTarget } from '../options.ts'
import { performHandshake } from './handshake.ts'
import { LiveSession, type CallEnd } from './live-session.ts'

export interface LiveClientOptions {
  /** Milliseconds that each request may take. */
  readonly timeout: number
  readonly signal?: AbortSignal
  /** Called when the server has accepted the handshake. An attempt that the server refuses is not reported. */
  readonly onOpened?: () => void
  /** Introduces the client with this version and these capabilities, instead of the newest version and none. */
  readonly introduction?: { readonly protocolVersion?: string; readonly capabilities?: JsonObject }
}

/** Requests the lists of a server page by page, at most so many pages. */
const MOST_PAGES = 1_000

/** A session of Reelay's own with a live server. It declares no capabilities by default, so servers do not ask it for anything. */
export class LiveClient {
  readonly #session: LiveSession
  readonly #meta: JsonObject
  readonly #timeout: number
  readonly #stopListening: () => void
  readonly revision: Revision
  /** The result of the request that opened the session. */
  readonly opening: unknown

  private constructor(
    session: LiveSession,
    known: {
      readonly revision: Revision
      readonly opening: unknown
      readonly timeout: number
      readonly recorded: JsonObject | undefined
    },
    stopListening: () => void,
  ) {
    this.#session = session
    this.#timeout = known.timeout
    this.#stopListening = stopListening
    this.revision = known.revision
    this.opening = known.opening
    this.#meta = known.revision.requestMeta({
      info: { name: 'reelay', version: VERSION },
      recorded: known.recorded,
    })
  }

  /** Opens a session in the newest revision that the server accepts: first one with `initialize`, then a stateless one. */
  static async open(target: ReplayTarget, options: LiveClientOptions): Promise<LiveClient> {
    const version = options.introduction?.protocolVersion
    const first = version === undefined ? newestSessionRevision() : sessionRevisionOf(version)
    try {
      return await LiveClient.#openIn(first, target, options)
    } catch (error) {
      // A server that did not answer at all would not answer a second time.
      if (!(error instanceof ReelayError) || !/: (it|the server) answered/.test(error.message)) throw error
      return LiveClient.#openIn(newestStatelessRevision(), target, options).catch(() => {
        throw error
      })
    }
  }

  static async #openIn(
    revision: Revision,
    target: ReplayTarget,
    { timeout, signal, onOpened, introduction }: LiveClientOptions,
  ): Promise<LiveClient> {
    const session = new LiveSession({
      open: target.open,
      startTimeout: timeout,
      now: () => performance.now(),
      onRequest: async () => '"error":{"code":-32601,"message":"not supported"}',
      onNote: () => {},
    })
    const recorded = introduction && paramsOf(introduction)
    const close = (): void => void session.close({ isHurried: true })
    signal?.addEventListener('abort', close, { once: true })
    const stopListening = (): void => signal?.removeEventListener('abort', close)
    try {
      await session.connect()
      const { result } = await performHandshake(session, {
        turns: [],
        revision,
        timeout,
        timeoutOption: '--timeout',
        asRecordedClient: false,
        ...(recorded && { recorded }),
        id: 0,
      })
      onOpened?.()
      return new LiveClient(session, { revision, opening: result, timeout, recorded }, stopListening)
    } catch (error) {
      stopListening()
      await session.close()
      throw error
    }
  }

  /** Sends a request and returns the result or the error that the server answers. Throws if there is no answer. */
  async request(method: string, params: JsonObject = {}): Promise<Response['outcome']> {
    const id = this.#session.nextId()
    const hasMeta = Object.keys(this.#meta).length > 0
    const text = JSON.stringify({
      jsonrpc: '2.0',
      id,
      method,
      params: { ...params, ...(hasMeta && { _meta: this.#meta }) },
    })
    const call = this.#session.request({ text, id, token: undefined, timeout: this.#timeout })
    const end = await call.ended
    const message = end.kind === 'answered' ? classifyMessage(parseJson(end.text)) : undefined
    if (message?.kind === 'response') return message.outcome
    throw new ReelayError('TARGET_REFUSED', `the server did not answer ${method}: ${whyUnanswered(end)}`, {
      hint: 'raise --timeout, or check the log of the server',
    })
  }

  /** Requests every page of a list and returns the results. A list that the server does not have is empty. */
  async listPages(method: string): Promise<readonly unknown[]> {
    const results: unknown[] = []
    let cursor: unknown
    for (let page = 0; page < MOST_PAGES; page++) {
      const outcome = await this.request(method, cursor === undefined ? {} : { cursor })
      if (!('result' in outcome)) return results
      results.push(outcome.result)
      cursor = member(outcome.result, 'nextCursor')
      if (typeof cursor !== 'string') break
    }
    return results
  }

  /** The server has this capability, such as `tools`. */
  offers(capability: string): boolean {
    return member(member(this.opening, 'capabilities'), capability) !== undefined
  }

  async close(): Promise<void> {
    this.#stopListening()
    await this.#session.close()
  }
}

/** The params of a request that opens a session, in the forms of both eras. */
function paramsOf({
  protocolVersion,
  capabilities = {},
}: NonNullable<LiveClientOptions['introduction']>): JsonObject {
  return {
    ...(protocolVersion !== undefined && { protocolVersion }),
    capabilities,
    _meta: { [META_KEYS.clientCapabilities]: capabilities },
  }
}

function whyUnanswered(end: CallEnd): string {
  if (end.kind === 'timeout') return `no response within ${end.after} ms`
  return end.kind === 'lost' ? end.why : 'the session was closed'
}
