import { ReelayError } from '../errors.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { RuleSet } from '../redact/rule-set.ts'
import { resolveTape } from '../store/home.ts'
import type { ServerInfo } from '../tape/header.ts'
import { asciiJson } from './ascii-json.ts'
import { tapeHeader } from './header.ts'
import { HttpTape } from './http-tape.ts'
import { labelsOf, type LabelOptions, type Labels } from '../tape/labels.ts'
import { LinkTape } from './link-tape.ts'
import { redactedServer } from '../redact/redacted-header.ts'
import { redactionBy, rulesFor, valuesIn, type RedactOption } from './redaction.ts'
import { SessionTape } from './session-tape.ts'
import type { Vault } from '../store/vault.ts'
import type { Summary } from './recording-summary.ts'
import { TapeLog } from './tape-log.ts'
import { vaultFor } from './vault-for.ts'

export interface RecordingOptions extends LabelOptions {
  /** A tape name, or a path to a tape file; an existing one is never written over. */
  readonly tape: string
  /** How secrets are treated; by default they are replaced by stand-ins. */
  readonly redact?: RedactOption
}

/** A server, as a link to it sees it. */
export interface LinkOptions {
  /** What to call the server on the tape: links of one name are connections 1, 2, … of one server. */
  readonly server: string
  readonly info: ServerInfo
  /** What the server sees: the values of variables whose names speak of secrets are replaced everywhere. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** What the client sends with everything, and the server may repeat. */
  readonly headers?: Readonly<Record<string, string>>
}

const MAX_BYTES = 256 * 1024 * 1024

/**
 * A tape that several links write into, each to a server of its own or to the same one. The file is made when the first link
 * is. A tape that cannot be written says so in the summary, and fails no link.
 */
export class Recording {
  readonly #path: string
  readonly #labels: Labels
  readonly #rules: RuleSet | undefined
  readonly #values: readonly string[]
  readonly #vault: Vault | undefined
  #redactor: Redactor | undefined
  readonly #links = new Map<string, number>()
  readonly #http = new Map<string, HttpTape>()
  #log: TapeLog | undefined

  constructor({ tape, redact, ...labels }: RecordingOptions) {
    this.#path = resolveTape(tape)
    this.#labels = labelsOf(labels)
    this.#rules = rulesFor(redact)
    this.#values = valuesIn(redact)
    this.#vault = vaultFor(redact, this.#path)
  }

  /** Where the tape is; undefined while there is none. */
  get path(): string | undefined {
    return this.#log?.path
  }

  /** Why nothing, or not everything, is on the tape. */
  get failure(): string | undefined {
    return this.#log?.failure
  }

  /** A new link, for messages that are values. */
  link(options: LinkOptions): LinkTape {
    const { log, conn } = this.#join(options)
    return new LinkTape(log, { server: options.server, conn })
  }

  /** A new link, for bytes that are lines. */
  pipes(options: LinkOptions): SessionTape {
    const { log, conn } = this.#join(options)
    return new SessionTape({ log, server: options.server, conn, maxLineBytes: MAX_BYTES })
  }

  /** The HTTP exchanges with a server: its connections are counted by their sessions, so it has no other links. */
  http(server: string, url: URL): HttpTape {
    const known = this.#http.get(server)
    if (known !== undefined) return known
    if (this.#links.has(server)) throw twoKinds(server)
    const { log } = this.#join({ server, info: { transport: 'http', url: url.href } })
    const tape = new HttpTape({ log, server: () => server, url, maxBytes: MAX_BYTES })
    this.#http.set(server, tape)
    return tape
  }

  /** Ends the tape; may be called twice. What its links carry from then on is not recorded. */
  async close(): Promise<Summary> {
    if (this.#log === undefined) return NOTHING_RECORDED
    for (const tape of this.#http.values()) tape.settle()
    const servers = [...this.#links.keys()].slice(1).map(asciiJson)
    return this.#log.finish(servers.length === 0 ? '' : `,"servers":[${servers.join()}]`)
  }

  #join({ server, info, env, headers = {} }: LinkOptions): { readonly log: TapeLog; readonly conn: number } {
    const conn = (this.#links.get(server) ?? 0) + 1
    if (this.#http.has(server)) throw twoKinds(server)
    if (this.#links.size === 0)
      this.#redactor = this.#rules && redactionBy(this.#rules, { values: this.#values }).redactor
    if (env !== undefined) this.#redactor?.learnEnv(env)
    for (const [name, value] of Object.entries(headers)) this.#redactor?.learnHeader(name, value)
    const isLate = this.#links.size > 0 && conn === 1
    this.#links.set(server, conn)
    this.#log ??= new TapeLog({
      path: this.#path,
      header: (started) => tapeHeader(started, { [server]: info }, this.#labels),
      redactor: this.#redactor,
      vault: this.#vault,
    })
    // The header is written already, and a tape only grows at its end.
    if (isLate)
      this.#log.frame(
        `,"server":${asciiJson(server)},"event":"server",${membersOf(redactedServer(info, this.#redactor))}`,
      )
    return { log: this.#log, conn }
  }
}

const NOTHING_RECORDED: Summary = {
  path: undefined,
  tapes: 0,
  frames: 0,
  loss: { why: 'there was no link to record', frames: 0 },
  secrets: 0,
  vault: undefined,
  stoppedAt: undefined,
}

/**
 * Makes a tape that several transports can be recorded into.
 *
 * @example
 * const recording = createRecording({ tape: 'my-agent', session: '42', tags: { suite: 'smoke' } })
 * await github.connect(recordTransport(one, { recording, server: 'github' }))
 * await files.connect(recordTransport(two, { recording, server: 'files' }))
 * await recording.close()
 */
export function createRecording(options: RecordingOptions): Recording {
  return new Recording(options)
}

function membersOf(info: ServerInfo): string {
  return JSON.stringify(info).slice(1, -1)
}

function twoKinds(server: string): ReelayError {
  return new ReelayError('USAGE', `the server ${server} has links of two kinds: HTTP and another`, {
    hint: 'give recordFetch and recordTransport two names',
  })
}
