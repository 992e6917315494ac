import { randomUUID } from 'node:crypto'
import { probeHttp, type HttpProbeResult } from '../http/client/probe.ts'
import { findHeader, type AddedHeader } from '../http/headers.ts'
import { bareHost, isLoopback } from '../http/hosts.ts'
import type { Failure } from '../shrink/watch.ts'
import { META_KEYS } from '../protocol/message.ts'
import { newestSessionRevision, newestStatelessRevision } from '../protocol/revisions/index.ts'
import { VERSION } from '../version.ts'

/** Something that an HTTP server should have refused. */
interface HttpWeakness extends Failure {
  readonly fails: 'dns-rebinding' | 'session-fixation' | 'unauthenticated'
}

export interface ProbedServer {
  readonly url: URL
  /** The headers of the user, such as a token. */
  readonly headers: readonly AddedHeader[]
  readonly timeoutMs: number
}

/** Sends requests that a careful server refuses: from a page of another site, with a session id of the client's choice, without the token. */
export async function probeHttpServer(server: ProbedServer): Promise<readonly HttpWeakness[]> {
  const opening = await acceptedOpening(server)
  if (opening === undefined) return []
  const { message, session } = opening
  const send = (headers: readonly AddedHeader[], own = server.headers): Promise<HttpProbeResult> =>
    post(server, message, [...own, ...headers])
  const found: HttpWeakness[] = []
  const add = (fails: HttpWeakness['fails'], summary: string): void =>
    void found.push({ call: 'the server', signature: summary, summary, fails })
  if (isLoopback(bareHost(server.url)))
    for (const [name, value] of [
      ['host', 'rebound.example'],
      ['origin', 'http://rebound.example'],
    ] as const)
      if (isAccepted(await send([{ name, value }])))
        add(
          'dns-rebinding',
          `a request with the header ${name}: ${value} is answered, so any web page can use the server through DNS rebinding`,
        )
  const chosen = `reelay-${randomUUID()}`
  const fixed = await send([{ name: 'mcp-session-id', value: chosen }])
  if (isAccepted(fixed) && sessionIn(fixed) === chosen)
    add('session-fixation', 'the server takes the session id that a client chooses')
  if (session !== undefined) {
    const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} })
    if (isAccepted(await post(server, list, [...server.headers, { name: 'mcp-session-id', value: chosen }])))
      add('session-fixation', 'the server answers a request of a session that it has never opened')
  }
  if (
    server.headers.some(isToken) &&
    isAccepted(
      await send(
        [],
        server.headers.filter((each) => !isToken(each)),
      ),
    )
  )
    add('unauthenticated', 'the server answers a request without the token, too')
  return found
}

function isToken({ name }: AddedHeader): boolean {
  return /^(authorization|cookie|x-api-key)$/i.test(name)
}

interface AcceptedOpening {
  readonly message: string
  /** The id of the session that the server opened. */
  readonly session: string | undefined
}

/** The request that opens a session in a revision of the server; `undefined` if it accepts none. */
async function acceptedOpening(server: ProbedServer): Promise<AcceptedOpening | undefined> {
  for (const revision of [newestSessionRevision(), newestStatelessRevision()]) {
    const info = { name: 'reelay', version: VERSION }
    const { method, params } = revision.opening({ info, recorded: undefined })
    const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const result = await post(server, message, server.headers)
    if (isAccepted(result)) return { message, session: sessionIn(result) }
  }
  return undefined
}

function post(
  { url, timeoutMs }: ProbedServer,
  body: string,
  headers: readonly AddedHeader[],
): Promise<HttpProbeResult> {
  const isStateless = body.includes(META_KEYS.protocolVersion)
  const revision = isStateless ? newestStatelessRevision() : newestSessionRevision()
  return probeHttp(url, {
    headers: [
      { name: 'content-type', value: 'application/json' },
      { name: 'accept', value: 'application/json, text/event-stream' },
      { name: 'mcp-protocol-version', value: revision.version ?? '' },
      ...(isStateless ? [{ name: 'mcp-method', value: 'server/discover' }] : []),
      ...headers,
    ],
    body,
    timeoutMs,
  })
}

function isAccepted(result: HttpProbeResult): boolean {
  return result.kind === 'answered' && result.status >= 200 && result.status < 300
}

function sessionIn(result: HttpProbeResult): string | undefined {
  return result.kind === 'answered' ? findHeader(result.headers, 'mcp-session-id') : undefined
}
