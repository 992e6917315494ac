import {
  ForwardProxy,
  type ForwardProxyOptions,
  type ForwardProxyWatcher,
  type HostAndPort,
} from '../../http/proxy/forward-proxy.ts'
import type { RequestLine } from '../../http/proxy/proxied-exchange.ts'
import { type TapeServer, pickLabels, type TapeLabelOptions } from '../../tape/header.ts'
import { forwardHeader } from '../tape-header.ts'
import { serverNameFromUrl } from '../server-name.ts'
import { ExchangeRecorder } from './exchange-recorder.ts'
import { messageFilterFor } from '../message-filter.ts'
import { openRedaction, type RecordingRedaction, type RedactOption } from '../redaction.ts'
import { type RecordingSummary, TapeLog } from '../tape-log.ts'
import type { RecordingRules } from '../limits.ts'

interface RecordForwardProxyOptions extends ForwardProxyOptions, RecordingRules, TapeLabelOptions {
  /** The tape file; an existing one is never written over. */
  readonly tape: string
  /** What to call every server on the tape; otherwise each is called by its host. */
  readonly server: string | undefined
  readonly maxMessageBytes: number
  /** How secrets are treated; by default they are replaced by stand-ins. */
  readonly redact?: RedactOption
  /** Told of every tape that is begun. */
  readonly onTape?: ((path: string) => void) | undefined
  /** Told in words of a request that has had no answer for `pendingMs`. */
  readonly onPending?: (words: string) => void
  /** What the user should know, said once a host. */
  readonly onNotice: (notice: ForwardProxyNotice) => void
}

export interface ForwardProxyNotice {
  readonly kind: 'tunnelled' | 'distrusted'
  readonly host: string
}

/** A forward proxy that waits for its clients. */
interface ForwardProxyRecording {
  /** What clients are to be given as their proxy. */
  readonly proxy: string
  /** Undefined when the tape could not be made; then `failure` says why. */
  readonly tape: string | undefined
  readonly failure: string | undefined
  /** Why the tape has a redaction key of its own, which is forgotten: the user's could not be read. */
  readonly keyTrouble: string | undefined
  /** Whether any client has named a server yet. */
  readonly isUsed: () => boolean
  /** Ends what is under way and finishes the tape; may be called twice. */
  readonly close: () => Promise<RecordingSummary>
}

/** Stands between clients and whatever servers they name, and makes a tape. */
export async function recordForwardProxy(options: RecordForwardProxyOptions): Promise<ForwardProxyRecording> {
  const redaction = openRedaction(options.redact, options)
  const proxy = new ForwardProxy(options)
  const begin = (): ForwardProxyRecorder => new ForwardProxyRecorder(options, redaction)
  const { origin, watcher } = await proxy.listen(begin)
  const { log } = watcher.tape
  const close = async (): Promise<RecordingSummary> => {
    await proxy.close()
    return watcher.finish()
  }
  return {
    proxy: origin,
    tape: log.path,
    failure: log.failure,
    keyTrouble: redaction.trouble,
    isUsed: () => watcher.isUsed,
    close,
  }
}

/** Names the servers as they come up, and tells what could not be looked at. */
class ForwardProxyRecorder implements ForwardProxyWatcher {
  readonly tape: ExchangeRecorder
  readonly #onNotice: RecordForwardProxyOptions['onNotice']
  readonly #seen = new Set<string>()
  readonly #servers = new Map<string, TapeServer>()

  constructor(options: RecordForwardProxyOptions, { redactor, vault }: RecordingRedaction) {
    const { tape: path, server, maxMessageBytes, limits, onTape } = options
    const labels = pickLabels(options)
    const header = (started: Date): ReturnType<typeof forwardHeader> =>
      forwardHeader({ started, server, servers: Object.fromEntries(this.#servers), labels })
    const log = new TapeLog({ path, header, redactor, vault, ...(limits && { limits }), onTape })
    this.tape = new ExchangeRecorder({
      log,
      server: (line) => server ?? serverNameOf(line),
      maxBytes: maxMessageBytes,
      cutBytes: options.cutBytes,
      filter: messageFilterFor(options, log),
    })
    this.#onNotice = options.onNotice
  }

  readonly watch = (line: RequestLine): ReturnType<ExchangeRecorder['watch']> => {
    this.#registerServer(line)
    return this.tape.watch(line)
  }

  /** A tape that a limit begins later has in its header what had joined before. */
  #registerServer(line: RequestLine): void {
    const name = serverNameOf(line)
    if (line.origin === undefined || name === undefined || !this.#isFirstTime(`server ${line.origin}`)) return
    const info = { transport: 'http', url: line.origin }
    this.tape.event('server', info, line)
    this.#servers.set(name, info)
  }

  get isUsed(): boolean {
    return this.#seen.size > 0
  }

  finish(): Promise<RecordingSummary> {
    const names = [...this.#servers.keys()]
    return this.tape.finish(names.length === 0 ? '' : `,"servers":${JSON.stringify(names)}`)
  }

  readonly refused = (why: string): void => this.tape.refused(why)

  readonly tunnelled = (to: HostAndPort): void => this.#notice('tunnelled', to)

  readonly distrusted = (to: HostAndPort): void => this.#notice('distrusted', to)

  readonly unreachable = ({ authority }: HostAndPort, why: string): void =>
    this.tape.event('unreachable', { host: authority, why })

  #notice(kind: ForwardProxyNotice['kind'], { authority }: HostAndPort): void {
    if (!this.#isFirstTime(`${kind} ${authority}`)) return
    this.tape.event(kind, { host: authority })
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
