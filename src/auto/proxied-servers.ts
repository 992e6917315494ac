import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { errorMessage } from '../errors.ts'
import { findHeader, isEventStream, type RawHeaders } from '../http/headers.ts'
import { certificateContexts, type CertificateKeyPair } from '../http/proxy/certificates.ts'
import {
  ForwardProxy,
  proxyUrl,
  type ForwardProxyWatcher,
  type ProxyAnswer,
  type ProxyCredentials,
} from '../http/proxy/forward-proxy.ts'
import type { BodyWatcher, ExchangeWatcher, RequestLine } from '../http/proxy/proxied-exchange.ts'
import { sendErrorResponse, type ServedHandler } from '../http/server/http-server.ts'
import { acceptsMcpResponses, mcpRequestKind } from '../protocol/headers.ts'
import { SseReader } from '../protocol/sse.ts'
import type { Recording } from '../record/recording.ts'
import { serverNameFromUrl } from '../record/tape-header.ts'
import { createThrowawayRedactor } from '../serve/redaction/report-redactor.ts'
import { serveRequests } from '../serve/http/serve-fetch.ts'
import { createServedRecording } from '../serve/http/served-recording.ts'
import type { ServerFilter } from '../tape/server-filter.ts'
import { NO_COMMAND, type ReplayAccount, serveOptions } from './replay-servers.ts'
import { queryForUrl, type ServerNames, type TapeSet } from './server-lookup.ts'

/*
 * Programs that are not Node programs cannot be changed from inside. Most of them use the proxy that HTTP_PROXY names, so
 * `reelay run` gives them a forward proxy. It records or plays what is MCP. Everything else, such as requests to a language
 * model, is forwarded and is not recorded.
 */

interface ProxyOptions {
  readonly credentials: ProxyCredentials
  readonly isMeant: ServerFilter
  /** Signs the certificates with which TLS is decrypted. Without it, and for other hosts, TLS is forwarded unread. */
  readonly authority: CertificateKeyPair | undefined
}

/** A proxy that records or plays the MCP servers of a program. */
export interface ServerProxy {
  /** The proxy URL for the program, with a user name and a password that only it knows. */
  readonly url: string
  readonly notices: () => ProxyNotices
  readonly close: () => Promise<void>
}

/** What the proxy could not see. */
interface ProxyNotices {
  /** Hosts whose TLS was forwarded unread. */
  readonly tunnelled: readonly string[]
  /** Hosts whose clients did not accept the certificate of the proxy. */
  readonly distrusted: readonly string[]
}

interface RecordProxyOptions extends ProxyOptions {
  readonly recording: Recording
  readonly names: ServerNames
}

/** Records the MCP servers that a program reaches through the proxy. */
export async function recordProxiedServers(options: RecordProxyOptions): Promise<ServerProxy> {
  const { recording, names, isMeant } = options
  const servers = new Endpoints<RecordedEndpoint>((url) => {
    const name = names.nameOf(url.href, serverNameFromUrl(url))
    return isMeant(name) ? recording.http(name, url) : undefined
  })
  return openProxy(options, {
    watch: (line) =>
      new UndecidedExchange(line, servers, (recorder) => recorder?.watch(withoutOrigin(line)) ?? IGNORED),
  })
}

type RecordedEndpoint = ReturnType<Recording['http']> | undefined

interface ReplayProxyOptions extends ProxyOptions {
  readonly tapes: TapeSet
  /** The name of the tape, and the command that records it again, for reports. */
  readonly name: string
  readonly recordCommand: string
  readonly account: ReplayAccount
}

/** Plays the servers of a tape to a program. A request to an MCP server that is not on the tape is refused. */
export async function playProxiedServers(options: ReplayProxyOptions): Promise<ServerProxy> {
  const { tapes, account, isMeant } = options
  const play = async (url: URL, isExact: boolean): Promise<ServedHandler | undefined> => {
    const part = await tapes.findServer({ ...queryForUrl(url), ...(isExact && { name: '' }) })
    if (!isMeant(part.server)) return undefined
    const recording = createServedRecording({
      options: serveOptions(part, options),
      newId: randomUUID,
      commandFor: NO_COMMAND,
    })
    account.add(part, () => recording.drift())
    return serveRequests(recording, url.pathname)
  }
  const exact = new Endpoints((url) => play(url, true).catch(() => undefined))
  const byName = new Endpoints((url) => play(url, false))
  const answer = async (...[line, { req, res }, forward]: Parameters<ProxyAnswer>): Promise<void> => {
    const url = urlOf(line)
    try {
      const known = await exact.get(url)
      if (known !== undefined) return known(req, res)
      const isWanted = isMeant(serverNameFromUrl(url)) && (await isMcpRequest(line, req))
      const handler = isWanted ? await byName.get(url) : undefined
      if (handler === undefined) forward()
      else handler(req, res)
    } catch (error) {
      account.addRefused(createThrowawayRedactor().url(url.href), errorMessage(error))
      sendErrorResponse(res, 502, errorMessage(error))
    }
    req.resume()
  }
  return openProxy(options, {
    watch: (line) => new UndecidedExchange(line, LIVE, () => reportLive(account, line)),
    answer: (line, exchange, forward) => void answer(line, exchange, forward),
  })
}

/** An MCP server that does not say that it is one until it answers. */
function reportLive(account: ReplayAccount, line: Required<RequestLine>): ExchangeWatcher {
  account.addLive(createThrowawayRedactor().url(urlOf(line).href))
  return IGNORED
}

interface ProxyJob {
  readonly watch: (line: Required<RequestLine>) => ExchangeWatcher
  readonly answer?: ProxyAnswer
}

async function openProxy(
  { authority, credentials }: ProxyOptions,
  { watch, answer }: ProxyJob,
): Promise<ServerProxy> {
  const tunnelled = new Set<string>()
  const distrusted = new Set<string>()
  const watcher: ForwardProxyWatcher = {
    watch: (line) => watch({ origin: '', ...line }),
    tunnelled: (host) => void tunnelled.add(host.authority),
    distrusted: (host) => void distrusted.add(host.authority),
    refused: () => {},
    unreachable: () => {},
    unauthorized: () => {},
  }
  const proxy = new ForwardProxy({
    listen: { host: '127.0.0.1', port: 0 },
    credentials,
    contextFor: authority && (await certificateContexts(authority)),
    ...(answer && { answer }),
  })
  const { origin } = await proxy.listen(() => watcher)
  return {
    url: proxyUrl(origin, credentials),
    notices: () => ({ tunnelled: [...tunnelled], distrusted: [...distrusted] }),
    close: () => proxy.close(),
  }
}

/** What belongs to each MCP server, by its URL without the query. */
class Endpoints<Server> {
  readonly #open: (url: URL) => Server
  readonly #servers = new Map<string, { readonly server: Server }>()

  constructor(open: (url: URL) => Server) {
    this.#open = open
  }

  has({ origin, pathname }: URL): boolean {
    return this.#servers.has(origin + pathname)
  }

  get({ origin, pathname }: URL): Server {
    const address = origin + pathname
    const found = this.#servers.get(address) ?? { server: this.#open(new URL(address)) }
    this.#servers.set(address, found)
    return found.server
  }

  /** The messages of an HTTP+SSE client go to a URL that its stream names. */
  addMessageUrl({ origin, pathname }: URL, server: Server): void {
    if (!this.#servers.has(origin + pathname)) this.#servers.set(origin + pathname, { server })
  }
}

const LIVE = new Endpoints(() => undefined)

/** Holds back what it observes until it is clear whether the exchange is one of MCP. */
class UndecidedExchange<Server> implements ExchangeWatcher {
  readonly request: BodyWatcher
  readonly #line: Required<RequestLine>
  readonly #servers: Endpoints<Server>
  readonly #watch: (server: Server) => ExchangeWatcher
  #decided: ExchangeWatcher | undefined
  #waiting: ((watcher: ExchangeWatcher) => void)[] = []
  #waitingBytes = 0

  constructor(
    line: Required<RequestLine>,
    servers: Endpoints<Server>,
    watch: (server: Server) => ExchangeWatcher,
  ) {
    this.#line = line
    this.#servers = servers
    this.#watch = watch
    if (servers.has(urlOf(line)) || kindOf(line) !== 'other') this.#decide(true)
    else if (!mayBeMcp(line)) this.#decide(false)
    const body: Uint8Array[] = []
    this.request = {
      chunk: (bytes) => {
        if (this.#decided === undefined) body.push(Uint8Array.from(bytes))
        this.#chunk(bytes, ({ request }) => request)
      },
      end: () => {
        if (this.#decided === undefined && line.method === 'POST')
          this.#decide(kindOf(line, Buffer.concat(body).toString()) !== 'other')
        this.#tell(({ request }) => request.end())
      },
    }
  }

  readonly answered = (status: number, headers: RawHeaders): BodyWatcher => {
    if (this.#decided === undefined && !isEventStream(headers)) this.#decide(false)
    let body = IGNORED_BODY
    this.#tell((watcher) => void (body = watcher.answered(status, headers)))
    if (this.#line.method !== 'GET' || this.#decided === IGNORED) return body
    let isFirst = true
    const reader = new SseReader({
      maxBytes: MAX_UNDECIDED_BYTES,
      onEvent: ({ event, data }) => {
        if (isFirst) this.#firstEvent(event, data?.parts ?? [])
        isFirst = false
      },
      onComment: () => {},
    })
    return {
      chunk: (bytes) => {
        if (isFirst) reader.push(Uint8Array.from(bytes))
        this.#chunk(bytes, () => body)
      },
      end: () => this.#tell(() => body.end()),
    }
  }

  readonly aborted: ExchangeWatcher['aborted'] = (...how) => this.#tell(({ aborted }) => aborted(...how))

  readonly unreachable: ExchangeWatcher['unreachable'] = (why) =>
    this.#tell(({ unreachable }) => unreachable(why))

  /** The first event of an HTTP+SSE stream names the URL for messages. */
  #firstEvent(event: string | undefined, data: readonly Uint8Array[]): void {
    const path = Buffer.concat(data).toString()
    const base = urlOf(this.#line)
    const isMcp = event === 'endpoint' && URL.canParse(path, base.href)
    if (isMcp) this.#servers.addMessageUrl(new URL(path, base), this.#servers.get(base))
    if (this.#decided === undefined) this.#decide(isMcp)
  }

  #decide(isMcp: boolean): void {
    const decided = isMcp ? this.#watch(this.#servers.get(urlOf(this.#line))) : IGNORED
    this.#decided = decided
    for (const tell of this.#waiting) tell(decided)
    this.#waiting = []
  }

  /** The bytes are copied if they have to wait, because their owner may use the memory again. */
  #chunk(bytes: Uint8Array, bodyOf: (watcher: ExchangeWatcher) => BodyWatcher): void {
    if (this.#decided !== undefined) return bodyOf(this.#decided).chunk(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes > MAX_UNDECIDED_BYTES) return this.#decide(false)
    const kept = Uint8Array.from(bytes)
    this.#tell((watcher) => bodyOf(watcher).chunk(kept))
  }

  #tell(tell: (watcher: ExchangeWatcher) => void): void {
    if (this.#decided === undefined) this.#waiting.push(tell)
    else tell(this.#decided)
  }
}

/** The first request of a client is short. Later ones are recognised by their URL. */
const MAX_UNDECIDED_BYTES = 16 * 1024 * 1024

const IGNORED_BODY: BodyWatcher = { chunk: () => {}, end: () => {} }
const IGNORED: ExchangeWatcher = {
  request: IGNORED_BODY,
  answered: () => IGNORED_BODY,
  aborted: () => {},
  unreachable: () => {},
}

function urlOf({ origin, path }: Required<RequestLine>): URL {
  return new URL(path, origin)
}

function withoutOrigin({ method, path, headers }: RequestLine): RequestLine {
  return { method, path, headers }
}

function kindOf({ method, headers }: RequestLine, body?: string): ReturnType<typeof mcpRequestKind> {
  return mcpRequestKind({ method, header: (name) => findHeader(headers, name), body }, false)
}

/** Whether the body or the response of a request can show that it is one of MCP. */
function mayBeMcp({ method, headers }: RequestLine): boolean {
  const accept = findHeader(headers, 'accept')
  if (method === 'GET') return accept?.includes('text/event-stream') === true
  const hasVersion = findHeader(headers, 'mcp-protocol-version') !== undefined
  return method === 'POST' && (acceptsMcpResponses(accept) || hasVersion)
}

async function isMcpRequest(line: RequestLine, req: IncomingMessage): Promise<boolean> {
  if (line.method !== 'POST' || !mayBeMcp(line)) return kindOf(line) !== 'other'
  // A body of unknown length cannot be read ahead. Its head is a strong sign.
  const length = Number(req.headers['content-length'] ?? NaN)
  return length <= MAX_UNDECIDED_BYTES ? kindOf(line, await peekBody(req, length)) !== 'other' : true
}

/** Reads a body, and puts it back for its real reader, which has to call `resume`. */
function peekBody(req: IncomingMessage, length: number): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = []
    const finish = (): void => {
      const body = Buffer.concat(parts)
      req.off('data', read).off('close', finish).pause()
      if (!req.readableEnded && body.length > 0) req.unshift(body)
      resolve(body.toString())
    }
    const read = (chunk: Buffer): void => {
      parts.push(chunk)
      if (parts.reduce((sum, part) => sum + part.length, 0) >= length) finish()
    }
    if (length === 0) return resolve('')
    req.on('data', read).on('close', finish)
  })
}
