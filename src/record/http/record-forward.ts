import type { MessageInterceptor } from '../intercept/link-interceptor.ts'
import {
  ForwardProxy,
  newProxyCredentials,
  proxyUrl,
  type ForwardProxyOptions,
  type ForwardProxyWatcher,
  type HostAndPort,
} from '../../http/proxy/forward-proxy.ts'
import type { RequestLine } from '../../http/proxy/proxied-exchange.ts'
import { pickLabels, type TapeLabelOptions, type TapeServer } from '../../tape/header.ts'
import { messageFilterFor } from '../message-filter.ts'
import { openRedaction, type RecordingRedaction, type RedactOption } from '../redaction.ts'
import { serverNameFromUrl } from '../tape-header.ts'
import { type RecordingRules, type RecordingSummary, TapeLog } from '../tape-log.ts'
import { ExchangeRecorder } from './exchange-recorder.ts'

interface RecordForwardProxyOptions
  extends Omit<ForwardProxyOptions, 'credentials' | 'answer'>, RecordingRules, TapeLabelOptions {
  /** The tape file. An existing one is never overwritten. */
  readonly tape: string
  /** The name of every server on the tape; by default each is named after its host. */
  readonly server: string | undefined
  readonly maxMessageBytes: number
  /** How secrets are treated; by default they are replaced by placeholders. */
  readonly redact?: RedactOption
  /** Called for each new tape. */
  readonly onTape?: ((path: string) => void) | undefined
  /** Called once with a text for the user, when the tape cannot be written any more. */
  readonly onTrouble?: (text: string) => void
  /** Called with a text for the user when a request has had no response for `pendingMs`. */
  readonly onPending?: (text: string) => void
  /** Holds messages, if the user wants that. */
  readonly interceptor?: MessageInterceptor | undefined
  /** Called once for each host that cannot be recorded. */
  readonly onNotice: (notice: ForwardProxyNotice) => void
}

export type ForwardProxyNotice =
  | { readonly kind: 'tunnelled' | 'distrusted'; readonly host: string }
  /** A program used the proxy without its credentials. */
  | { readonly kind: 'unauthorized' }

/** A forward proxy that listens for clients. */
interface ForwardProxyRecording {
  /** The proxy URL for clients, with a user name and a password that only they know. */
  readonly proxy: string
  /** The path of the tape. Undefined if it could not be created; `failure` says why. */
  readonly tape: string | undefined
  readonly failure: string | undefined
  /** Why the user's redaction key could not be read. The tape then uses a temporary key. */
  readonly keyTrouble: string | undefined
  /** Whether a client has used the proxy yet. */
  readonly isUsed: () => boolean
  /** Ends open exchanges and finishes the tape. May be called more than once. */
  readonly close: () => Promise<RecordingSummary>
}

/** Records every server that clients name, through a forward proxy. */
export async function recordForwardProxy(options: RecordForwardProxyOptions): Promise<ForwardProxyRecording> {
  const redaction = openRedaction(options.redact, options)
  const credentials = newProxyCredentials()
  // A server that is started with the variables of the proxy may repeat them.
  for (const secret of credentials.secrets) redaction.redactor?.learn(secret)
  const proxy = new ForwardProxy({ ...options, credentials })
  const { origin, watcher } = await proxy.listen(() => new ForwardProxyRecorder(options, redaction))
  const { log } = watcher.exchanges
  return {
    proxy: proxyUrl(origin, credentials),
    tape: log.path,
    failure: log.failure,
    keyTrouble: redaction.trouble,
    isUsed: () => watcher.isUsed,
    close: async () => {
      await proxy.close()
      return watcher.finish()
    },
  }
}

/** Adds each server to the tape when a client first names it, and reports hosts that cannot be recorded. */
class ForwardProxyRecorder implements ForwardProxyWatcher {
  readonly exchanges: ExchangeRecorder
  readonly #onNotice: RecordForwardProxyOptions['onNotice']
  readonly #seen = new Set<string>()
  readonly #servers = new Map<string, TapeServer>()

  constructor(options: RecordForwardProxyOptions, { redactor, vault }: RecordingRedaction) {
    const { server } = options
    this.#onNotice = options.onNotice
    const log = new TapeLog({
      path: options.tape,
      // Most servers are not known yet; each gets a `server` event. A further tape has the known ones in its header.
      servers: () =>
        server === undefined ? Object.fromEntries(this.#servers) : { [server]: { transport: 'http' } },
      labels: pickLabels(options),
      limits: options.limits,
      onTape: options.onTape,
      onTrouble: options.onTrouble,
      redactor,
      vault,
    })
    this.exchanges = new ExchangeRecorder({
      log,
      server: (line) => server ?? serverNameOf(line),
      maxBytes: options.maxMessageBytes,
      cutBytes: options.cutBytes,
      filter: messageFilterFor(options, log),
      interceptor: options.interceptor,
    })
  }

  readonly watch = (line: RequestLine): ReturnType<ExchangeRecorder['watch']> => {
    this.#registerServer(line)
    return this.exchanges.watch(line)
  }

  #registerServer(line: RequestLine): void {
    const name = serverNameOf(line)
    if (line.origin === undefined || name === undefined || !this.#isFirstTime(`server ${line.origin}`)) return
    const info = { transport: 'http', url: line.origin }
    this.exchanges.event('server', info, line)
    this.#servers.set(name, info)
  }

  get isUsed(): boolean {
    return this.#seen.size > 0
  }

  finish(): Promise<RecordingSummary> {
    const names = [...this.#servers.keys()]
    return this.exchanges.finish(names.length === 0 ? '' : `,"servers":${JSON.stringify(names)}`)
  }

  readonly refused = (why: string): void => this.exchanges.refused(why)

  readonly tunnelled = (to: HostAndPort): void => this.#notice('tunnelled', to)

  readonly distrusted = (to: HostAndPort): void => this.#notice('distrusted', to)

  readonly unauthorized = (): void => {
    if (this.#isFirstTime('unauthorized')) this.#onNotice({ kind: 'unauthorized' })
  }

  readonly unreachable = ({ authority }: HostAndPort, why: string): void =>
    this.exchanges.event('unreachable', { host: authority, why })

  #notice(kind: 'tunnelled' | 'distrusted', { authority }: HostAndPort): void {
    if (!this.#isFirstTime(`${kind} ${authority}`)) return
    this.exchanges.event(kind, { host: authority })
    this.#onNotice({ kind, host: authority })
  }

  #isFirstTime(fact: string): boolean {
    if (this.#seen.has(fact)) return false
    this.#seen.add(fact)
    return true
  }
}

function serverNameOf(line: RequestLine | undefined): string | undefined {
  return line?.origin === undefined ? undefined : serverNameFromUrl(new URL(line.origin))
}
