import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ExchangeWatcher, RequestLine } from '../http/proxy/proxied-exchange.ts'
import { parseServerUrl } from '../http/hosts.ts'
import { parseJson, member } from '../json/parse.ts'
import {
  type ClientLink,
  type HttpRefusal,
  type LinkHandlers,
  type OpenLink,
  requestKeys,
  responseKeys,
} from '../link/client-link.ts'
import { urlLink } from '../link/url-link.ts'
import { idFromKey, idKey, cancelledId, classifyMessage, type Message } from '../protocol/message.ts'
import { decodeUtf8, type Line, lineBytes, LineSplitter } from '../protocol/lines.ts'
import { openRedaction } from './redaction.ts'
import type { RecordingSummary } from './tape-log.ts'
import type { MessageTaker, WriteHeld } from './http/bodies.ts'
import type { ExchangeRecorder, ReservedExchange } from './http/exchange-recorder.ts'
import { createUrlRecorder, type RecordUrlOptions } from './http/url-recorder.ts'
import type { HeldMarks, InterceptedLink, MessageRoute } from './intercept/link-interceptor.ts'

export interface RecordBridgeOptions extends RecordUrlOptions {
  /** The client's side, which exchanges lines of JSON. */
  readonly client: { readonly input: Readable; readonly output: Writable; readonly isGone: () => boolean }
  /** Called when the tape was created, or could not be. */
  readonly onBegin: (begun: {
    readonly path: string | undefined
    readonly failure: string | undefined
    readonly keyTrouble: string | undefined
  }) => void
  /** Shows a message to the user. */
  readonly say: (text: string) => void
  /** Ends the session. */
  readonly stop: AbortSignal
}

const POLL_MS = 50
/** How long the client is given its responses after its input has ended. */
const RESPONSE_TIMEOUT_MS = 300_000

/** Acts as a stdio server for the client and as an HTTP client for the server at a URL, and records the HTTP exchanges. */
export async function recordBridgeSession(options: RecordBridgeOptions): Promise<RecordingSummary> {
  const url = parseServerUrl(options.url)
  const redaction = openRedaction(options.redact, options)
  const holds = options.interceptor === undefined ? undefined : new BridgeInterception(options)
  const recorder = createUrlRecorder(options, url, redaction, holds?.taker)
  holds?.start(recorder)
  const { path, failure } = recorder.log
  options.onBegin({ path, failure, keyTrouble: redaction.trouble })
  const watch = (line: RequestLine): ExchangeWatcher => {
    recorder.settle() // the exchange may belong to a session that was opened in this very round of the event loop
    return recorder.watch(line)
  }
  const bridge = new Bridge(options, url, holds)
  await bridge.open(urlLink({ url, watch, ...(options.headers && { headers: options.headers }) }))
  await readClientInput(options, (text) => {
    if (holds?.takes(text, bridge) !== true) bridge.send(text)
  })
  await waitForResponses(options, bridge)
  holds?.end()
  await bridge.close()
  await sleep(0) // what was just aborted is recorded in the next round
  return recorder.finish()
}

/** Resolves when the client has sent everything. */
function readClientInput(
  { client, say, stop }: RecordBridgeOptions,
  onText: (text: string) => void,
): Promise<void> {
  const splitter = new LineSplitter()
  const read = (line: Line): void => {
    if (line.isOverlong) return say(`the client sent a line of ${line.length} bytes, which is too long`)
    const text = decodeUtf8(lineBytes(line))
    if (text === undefined) say('the client sent a line that is not UTF-8')
    else if (text.trim() !== '') onText(text)
  }
  return new Promise((resolve) => {
    client.input.on('data', (chunk: Buffer) => splitter.split(chunk).forEach(read))
    client.input.once('end', () => {
      splitter.end().forEach(read)
      resolve()
    })
    client.input.once('close', resolve)
    client.input.on('error', () => resolve())
    stop.addEventListener('abort', () => resolve(), { once: true })
  })
}

/** A client that has closed its output may still read, so it is given its responses unless it is gone. */
async function waitForResponses({ client, stop }: RecordBridgeOptions, bridge: Bridge): Promise<void> {
  const since = performance.now()
  const isOver = (): boolean =>
    stop.aborted || client.isGone() || performance.now() - since > RESPONSE_TIMEOUT_MS
  while (!isOver() && bridge.isBusy) await sleep(POLL_MS)
}

/** Passes messages between a client that exchanges lines of JSON and a link to the server, unchanged and in order. */
class Bridge {
  readonly #options: Pick<RecordBridgeOptions, 'client' | 'say'>
  readonly #url: URL
  /** The requests that have no response yet, by id key. */
  readonly #open = new Map<string, { readonly isAwaited: boolean }>()
  readonly #shown = new Set<string>()
  readonly #holds: BridgeInterception | undefined
  #link: ClientLink | undefined
  #sending: Promise<void> = Promise.resolve()
  #unsent = 0
  #isEnded = false

  constructor(
    options: Pick<RecordBridgeOptions, 'client' | 'say'>,
    url: URL,
    holds: BridgeInterception | undefined,
  ) {
    this.#options = options
    this.#url = url
    this.#holds = holds
    holds?.connect(this)
  }

  async open(open: OpenLink): Promise<void> {
    this.#link = await open(this.#handlers)
  }

  /** Whether a message of the client is not sent yet, or waits for its response. */
  get isBusy(): boolean {
    return (
      this.#unsent > 0 ||
      this.#holds?.isHolding === true ||
      [...this.#open.values()].some(({ isAwaited }) => isAwaited)
    )
  }

  /** Sends a message of the client, after those before it. */
  send(text: string, before: () => void = () => {}): void {
    const message = classifyMessage(parseJson(text))
    if (message.kind === 'invalid')
      return this.#options.say(`the client sent something that is not a message: ${message.why}`)
    this.#unsent++
    this.#sending = this.#sending.then(() => this.#send(text, message, before)).finally(() => this.#unsent--)
  }

  /** Delivers a message of the server that was held, or one in its place. */
  deliver(text: string): void {
    this.forget(text)
    this.#toClient(onOneLine(text))
  }

  /** The requests that a message responds to get no other response. */
  forget(text: string): void {
    for (const key of responseKeys(text)) this.#open.delete(key)
  }

  /** Writes a line that belongs to no request. */
  tell(line: string): void {
    this.#toClient(line)
  }

  async close(): Promise<void> {
    await this.#link?.close()
  }

  async #send(text: string, message: Message, before: () => void): Promise<void> {
    if (this.#cancel(message)) return
    before()
    // A subscription lasts as long as its client, so its response is not waited for.
    const isAwaited = !(message.kind === 'request' && message.method === 'subscriptions/listen')
    for (const key of requestKeys(message)) this.#open.set(key, { isAwaited })
    if (this.#isEnded) this.#loseAll()
    else await new Promise<void>((resolve) => this.#link?.send(text, message, resolve))
  }

  /** The client takes a request back. Returns true if the server learns that from the closed stream, and needs no message. */
  #cancel(message: Message): boolean {
    const id = cancelledId(message)
    if (id === undefined) return false
    this.#open.delete(idKey(id))
    return this.#link?.abort?.(idKey(id)) === true
  }

  readonly #handlers: LinkHandlers = {
    onText: (text) => {
      if (text.trim() === '' || this.#holds?.isTaken(text) === true) return
      if (parseJson(text) === undefined)
        return this.#options.say('the server sent something that is not JSON; it is on the tape')
      for (const key of responseKeys(text)) this.#open.delete(key)
      this.#toClient(onOneLine(text))
    },
    onLost: (key, why, refusal) => {
      if (!this.#open.delete(key)) return
      const description = describeLoss(why, refusal, this.#url)
      const error = serverError(refusal) ?? ownError(refusal?.status, description)
      this.#toClient(JSON.stringify({ ...error, id: idFromKey(key) }))
      if (refusal?.isSessionLost === true) this.#sayOnce(description)
    },
    onRejected: (why, refusal) => this.#sayOnce(describeLoss(why, refusal, this.#url)),
    onEnd: () => {
      this.#isEnded = true
      this.#loseAll()
    },
  }

  #loseAll(): void {
    const why = 'the server ended its stream, and with it the session: restart the server in the client'
    for (const key of this.#open.keys()) this.#handlers.onLost(key, why)
  }

  #toClient(line: string): void {
    this.#options.client.output.write(`${line}\n`)
  }

  #sayOnce(text: string): void {
    if (this.#shown.has(text)) return
    this.#shown.add(text)
    this.#options.say(text)
  }
}

/**
 * Holds the messages of a bridge. The recorder writes frames for the HTTP side, so a message of the server is taken while it is
 * being recorded, and a message of the client gets the marks of its delivery when its request is sent.
 */
class BridgeInterception {
  readonly #options: Pick<RecordBridgeOptions, 'interceptor' | 'server'>
  readonly #deliveries = new Map<string, HeldMarks>()
  readonly #taken: string[] = []
  #link: InterceptedLink | undefined
  #recorder: ExchangeRecorder | undefined
  #bridge: Bridge | undefined

  constructor(options: Pick<RecordBridgeOptions, 'interceptor' | 'server'>) {
    this.#options = options
  }

  start(recorder: ExchangeRecorder): void {
    const { interceptor, server = '' } = this.#options
    this.#recorder = recorder
    this.#link = interceptor?.link({ server, conn: () => 1 })
    if (interceptor !== undefined) recorder.log.followTapes((tape) => interceptor.useTape?.(tape))
  }

  connect(bridge: Bridge): void {
    this.#bridge = bridge
    if (this.#link === undefined) return
    this.#link.repeatRoute = {
      deliver: (text) => bridge.send(text),
      record: (_, text, marks) => void this.#deliveries.set(text, marks),
    }
  }

  get isHolding(): boolean {
    return this.#link?.isHolding('c2s') === true || this.#link?.isHolding('s2c') === true
  }

  /** Returns true if a message of the client was taken over. */
  takes(text: string, bridge: Bridge): boolean {
    let reserved: ReservedExchange | undefined
    const numbers = (): ReservedExchange => (reserved ??= this.#recorder!.reserve())
    const route: MessageRoute = {
      deliver: (sent) => bridge.send(sent, () => this.#recorder?.useReserved(reserved)),
      drop() {},
      answer: (answer) => bridge.tell(answer),
      progress: (progress) => bridge.tell(progress),
      record: (dir, sent, marks) => {
        if (marks.side === 'client') return this.#recorder?.heldMessage(numbers(), dir, sent, marks)
        this.#deliveries.set(sent, marks) // written when the request is sent
        return undefined
      },
      event: (event, details) => this.#recorder?.event(event, details),
    }
    return this.#link?.takes({ dir: 'c2s', bytes: Buffer.from(text), route }) === true
  }

  readonly taker: MessageTaker = (dir, text, write) => {
    if (dir === 's2c') return this.#takesFromServer(text, write)
    const marks = this.#deliveries.get(text)
    if (marks === undefined) return false
    this.#deliveries.delete(text)
    write(text, marks)
    return true
  }

  /** Returns true once for each message of the server that was taken over. */
  isTaken(text: string): boolean {
    const at = this.#taken.indexOf(text)
    if (at >= 0) this.#taken.splice(at, 1)
    return at >= 0
  }

  /** The client is gone. */
  end(): void {
    this.#link?.end('c2s', 'the client is gone', false)
    this.#link?.end('s2c', 'the client is gone', false)
  }

  #takesFromServer(text: string, write: WriteHeld): boolean {
    const route: MessageRoute = {
      deliver: (sent) => this.#bridge?.deliver(sent),
      drop: () => this.#bridge?.forget(text),
      answer: (answer) => this.#bridge?.send(answer),
      progress: (progress) => this.#bridge?.tell(progress),
      record: (dir, sent, marks) => {
        if (dir === 's2c') return write(sent, marks)
        this.#deliveries.set(sent, marks)
        return undefined
      },
      event: (event, details) => this.#recorder?.event(event, details),
    }
    const isTaken = this.#link?.takes({ dir: 's2c', bytes: Buffer.from(text), route }) === true
    if (isTaken) this.#taken.push(text)
    return isTaken
  }
}

/** Between the tokens of JSON a line feed is white space. */
function onOneLine(text: string): string {
  return text.trim().replaceAll(/[\r\n]+/g, ' ')
}

/** The error of the server, if it sent one instead of a response. Often it does not have the id of the request. */
function serverError(refusal: HttpRefusal | undefined): object | undefined {
  if (refusal === undefined || refusal.status === 401) return undefined
  const value = parseJson(refusal.body)
  const message = classifyMessage(value)
  return message.kind === 'response' && 'error' in message.outcome ? Object(value) : undefined
}

/** Outside every range that JSON-RPC and MCP reserve; the last digits are an HTTP status. */
const ERROR_CODE_BASE = -39_000
const BAD_GATEWAY = 502

/** An error in place of the response that the server did not give. */
function ownError(status = BAD_GATEWAY, description: string): object {
  const code = ERROR_CODE_BASE - (status < 300 ? BAD_GATEWAY : status)
  return {
    jsonrpc: '2.0',
    id: null,
    error: { code, message: `reelay: ${description}`, data: { by: 'reelay' } },
  }
}

/** Explains a missing response to the user of a stdio client. */
function describeLoss(why: string, refusal: HttpRefusal | undefined, url: URL): string {
  if (refusal === undefined || refusal.status < 300) return why
  const { status, location, isSessionLost } = refusal
  if (isSessionLost)
    return 'the server no longer knows this session (status 404), as after a restart: restart the server in the client'
  if (status < 400 && location !== undefined && URL.canParse(location, url.href)) {
    const { origin, pathname } = new URL(location, url)
    return `the server has moved to ${origin}${pathname}, where nothing was sent: use that URL instead`
  }
  const where = `${url.origin}${url.pathname}`
  if (status === 401 || status === 403)
    return (
      `${where} requires authorization (status ${status}), and a bridge cannot log in. What works: a token in a header ` +
      "(--header 'Authorization: Bearer ${env.TOKEN}'), or the client itself behind reelay record --forward"
    )
  const message = member(member(serverError(refusal), 'error'), 'message')
  return `${where} answered with status ${status}${typeof message === 'string' ? `: ${message}` : ' and no message'}`
}
