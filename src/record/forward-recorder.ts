import { ForwardProxy, type ForwardOptions, type ForwardWatcher } from '../transport/forward-proxy.ts'
import type { RequestLine } from '../transport/http-passage.ts'
import type { Authority } from '../transport/request-target.ts'
import type { ServerInfo } from '../tape/header.ts'
import { forwardHeader } from './header.ts'
import { nameOfUrl, type Care } from './url-tape.ts'
import { HttpTape } from './http-tape.ts'
import { labelsOf, type LabelOptions } from '../tape/labels.ts'
import { lookFor } from './message-look.ts'
import { redactionFor, type RedactOption } from './redaction.ts'
import type { Summary } from './recording-summary.ts'
import { TapeLog } from './tape-log.ts'
import { vaultFor } from './vault-for.ts'
import type { TapeRules } from './tape-rules.ts'

export interface RecordForwardOptions extends ForwardOptions, TapeRules, LabelOptions {
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
  readonly onNotice: (notice: ForwardNotice) => void
}

export interface ForwardNotice {
  readonly kind: 'tunnelled' | 'distrusted'
  readonly host: string
}

/** A forward proxy that waits for its clients. */
export interface ForwardRecording {
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
  readonly close: () => Promise<Summary>
}

/** Stands between clients and whatever servers they name, and makes a tape. */
export async function recordForward(options: RecordForwardOptions): Promise<ForwardRecording> {
  const redaction = redactionFor(options.redact)
  const care = { redactor: redaction?.redactor, vault: vaultFor(options.redact, options.tape) }
  const proxy = new ForwardProxy(options)
  const begin = (): ForwardTape => new ForwardTape(options, care)
  const { origin, watcher } = await proxy.listen(begin)
  const { log } = watcher.tape
  const close = async (): Promise<Summary> => {
    await proxy.close()
    return watcher.finish()
  }
  return {
    proxy: origin,
    tape: log.path,
    failure: log.failure,
    keyTrouble: redaction?.trouble,
    isUsed: () => watcher.isUsed,
    close,
  }
}

/** Names the servers as they come up, and tells what could not be looked at. */
class ForwardTape implements ForwardWatcher {
  readonly tape: HttpTape
  readonly #onNotice: RecordForwardOptions['onNotice']
  readonly #seen = new Set<string>()
  readonly #servers = new Map<string, ServerInfo>()

  constructor(options: RecordForwardOptions, { redactor, vault }: Care) {
    const { tape: path, server, maxMessageBytes, limits, onTape } = options
    const labels = labelsOf(options)
    const header = (started: Date): ReturnType<typeof forwardHeader> =>
      forwardHeader({ started, server, servers: Object.fromEntries(this.#servers), labels })
    const log = new TapeLog({ path, header, redactor, vault, ...(limits && { limits }), onTape })
    this.tape = new HttpTape({
      log,
      server: (line) => server ?? nameOf(line),
      maxBytes: maxMessageBytes,
      cutBytes: options.cutBytes,
      look: lookFor(options, log),
    })
    this.#onNotice = options.onNotice
  }

  readonly watch = (line: RequestLine): ReturnType<HttpTape['watch']> => {
    this.#join(line)
    return this.tape.watch(line)
  }

  /** A tape that a limit begins later has in its header what had joined before. */
  #join(line: RequestLine): void {
    const name = nameOf(line)
    if (line.origin === undefined || name === undefined || !this.#isNew(`server ${line.origin}`)) return
    const info = { transport: 'http', url: line.origin }
    this.tape.happened('server', info, line)
    this.#servers.set(name, info)
  }

  get isUsed(): boolean {
    return this.#seen.size > 0
  }

  finish(): Promise<Summary> {
    const names = [...this.#servers.keys()]
    return this.tape.finish(names.length === 0 ? '' : `,"servers":${JSON.stringify(names)}`)
  }

  readonly refused = (why: string): void => this.tape.refused(why)

  readonly tunnelled = (to: Authority): void => this.#notice('tunnelled', to)

  readonly distrusted = (to: Authority): void => this.#notice('distrusted', to)

  readonly unreachable = ({ authority }: Authority, why: string): void =>
    this.tape.happened('unreachable', { host: authority, why })

  #notice(kind: ForwardNotice['kind'], { authority }: Authority): void {
    if (!this.#isNew(`${kind} ${authority}`)) return
    this.tape.happened(kind, { host: authority })
    this.#onNotice({ kind, host: authority })
  }

  #isNew(fact: string): boolean {
    if (this.#seen.has(fact)) return false
    this.#seen.add(fact)
    return true
  }
}

function nameOf(line: RequestLine | undefined): string | undefined {
  return line?.origin === undefined ? undefined : nameOfUrl(new URL(line.origin))
}
