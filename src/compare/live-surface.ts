import { ReelayError } from '../errors.ts'
import { member, parseJson } from '../json/parse.ts'
import { classifyMessage } from '../protocol/message.ts'
import { newestSessionRevision, newestStatelessRevision } from '../protocol/revisions/index.ts'
import type { Revision } from '../protocol/revisions/revision.ts'
import type { ReplayTarget } from '../replay/options.ts'
import { performHandshake } from '../replay/session/handshake.ts'
import { LiveSession } from '../replay/session/live-session.ts'
import { VERSION } from '../version.ts'
import { SURFACE_LISTS, SurfaceBuilder, type ServerSurface } from './surface.ts'

interface LiveSurfaceOptions {
  /** Milliseconds that each request may take. */
  readonly timeout: number
  readonly signal?: AbortSignal
}

/** Asks a live server what it offers. Only lists are asked for: no tool is called. */
export async function liveSurface(target: ReplayTarget, options: LiveSurfaceOptions): Promise<ServerSurface> {
  try {
    return await surfaceIn(newestSessionRevision(), target, options)
  } catch (error) {
    if (!(error instanceof ReelayError) || error.code !== 'TARGET_REFUSED') throw error
    // A server of a stateless revision does not know `initialize`.
    return surfaceIn(newestStatelessRevision(), target, options).catch(() => {
      throw error
    })
  }
}

async function surfaceIn(
  revision: Revision,
  target: ReplayTarget,
  { timeout, signal }: LiveSurfaceOptions,
): Promise<ServerSurface> {
  const session = new LiveSession({
    open: target.open,
    startTimeout: timeout,
    now: () => performance.now(),
    onRequest: async () => '"error":{"code":-32601,"message":"not supported"}',
    onNote: () => {},
  })
  const close = (): void => void session.close({ isHurried: true })
  signal?.addEventListener('abort', close, { once: true })
  try {
    await session.connect()
    const { result } = await performHandshake(session, {
      turns: [],
      revision,
      timeout,
      asRecordedClient: false,
    })
    const builder = new SurfaceBuilder()
    builder.add(revision.openingMethod, result)
    const meta = revision.requestMeta({ info: { name: 'reelay', version: VERSION }, recorded: undefined })
    for (const { method, capability } of SURFACE_LISTS)
      if (member(member(result, 'capabilities'), capability) !== undefined)
        await listAll(session, { method, meta, timeout, builder })
    return builder.surface()
  } finally {
    signal?.removeEventListener('abort', close)
    await session.close()
  }
}

interface ListQuestion {
  readonly method: string
  readonly meta: object
  readonly timeout: number
  readonly builder: SurfaceBuilder
}

const MOST_PAGES = 1_000

async function listAll(
  session: LiveSession,
  { method, meta, timeout, builder }: ListQuestion,
): Promise<void> {
  let cursor: unknown
  for (let page = 0; page < MOST_PAGES; page++) {
    const id = `__list_${session.nextId()}__`
    const params = {
      ...(cursor !== undefined && { cursor }),
      ...(Object.keys(meta).length > 0 && { _meta: meta }),
    }
    const text = JSON.stringify({ jsonrpc: '2.0', id, method, params })
    const end = await session.request({ text, id, token: undefined, timeout }).ended
    const message = end.kind === 'answered' ? classifyMessage(parseJson(end.text)) : undefined
    if (message?.kind !== 'response' || !('result' in message.outcome)) {
      // A server may have the capability and lack one of its lists, most often the one of templates.
      if (message?.kind === 'response') return
      throw new ReelayError('TARGET_REFUSED', `the server did not answer ${method}`, {
        hint: 'raise --timeout, or check the log of the server',
      })
    }
    builder.add(method, message.outcome.result)
    cursor = member(message.outcome.result, 'nextCursor')
    if (typeof cursor !== 'string') return
  }
}
