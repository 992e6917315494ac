import { ReelayError } from '../errors.ts'
import { toAsciiJson, jsonOnOneLine } from '../json/parse.ts'
import type { Direction } from '../protocol/message.ts'
import { encodeEventMembers, encodeMembers } from './frame-payloads.ts'
import { ExchangeRecorder } from './http/exchange-recorder.ts'
import {
  createRedactor,
  redactionRulesFor,
  knownSecretValues,
  type RedactOption,
  openVault,
} from './redaction.ts'
import { StdioRecorder } from './stdio/stdio-recorder.ts'
import { tapeHeader } from './tape-header.ts'
import { type RecordingSummary, TapeLog } from './tape-log.ts'
import { redactServerInfo } from '../redact/redact-tape.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { RedactionRuleSet } from '../redact/rule-set.ts'
import { resolveTape } from '../store/home.ts'
import type { Vault } from '../store/vault.ts'
import { type TapeServer, pickLabels, type TapeLabelOptions, type TapeLabels } from '../tape/header.ts'

export interface RecordingOptions extends TapeLabelOptions {
  /** A tape name, or a path to a tape file; an existing one is never written over. */
  readonly tape: string
  /** How secrets are treated; by default they are replaced by stand-ins. */
  readonly redact?: RedactOption
}

/** A server, as a link to it sees it. */
export interface RecordedLinkOptions {
  /** What to call the server on the tape: links of one name are connections 1, 2, … of one server. */
  readonly server: string
  readonly info: TapeServer
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
  readonly #labels: TapeLabels
  readonly #rules: RedactionRuleSet | undefined
  readonly #values: readonly string[]
  readonly #vault: Vault | undefined
  #redactor: Redactor | undefined
  readonly #links = new Map<string, number>()
  readonly #http = new Map<string, ExchangeRecorder>()
  #log: TapeLog | undefined

  constructor({ tape, redact, ...labels }: RecordingOptions) {
    this.#path = resolveTape(tape)
    this.#labels = pickLabels(labels)
    this.#rules = redactionRulesFor(redact)
    this.#values = knownSecretValues(redact)
    this.#vault = openVault(redact, this.#path)
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
  link(options: RecordedLinkOptions): MessageRecorder {
    const { log, conn } = this.#addConnection(options)
    return new MessageRecorder(log, { server: options.server, conn })
  }

  /** A new link, for bytes that are lines. */
  pipes(options: RecordedLinkOptions): StdioRecorder {
    const { log, conn } = this.#addConnection(options)
    return new StdioRecorder({ log, server: options.server, conn, maxLineBytes: MAX_BYTES })
  }

  /** The HTTP exchanges with a server: its connections are counted by their sessions, so it has no other links. */
  http(server: string, url: URL): ExchangeRecorder {
    const known = this.#http.get(server)
    if (known !== undefined) return known
    if (this.#links.has(server)) throw mixedTransportsError(server)
    const { log } = this.#addConnection({ server, info: { transport: 'http', url: url.href } })
    const tape = new ExchangeRecorder({ log, server: () => server, url, maxBytes: MAX_BYTES })
    this.#http.set(server, tape)
    return tape
  }

  /** Ends the tape; may be called twice. What its links carry from then on is not recorded. */
  async close(): Promise<RecordingSummary> {
    if (this.#log === undefined) return NOTHING_RECORDED
    for (const tape of this.#http.values()) tape.settle()
    const servers = [...this.#links.keys()].slice(1).map(toAsciiJson)
    return this.#log.finish(servers.length === 0 ? '' : `,"servers":[${servers.join()}]`)
  }

  #addConnection({ server, info, env, headers = {} }: RecordedLinkOptions): {
    readonly log: TapeLog
    readonly conn: number
  } {
    const conn = (this.#links.get(server) ?? 0) + 1
    if (this.#http.has(server)) throw mixedTransportsError(server)
    if (this.#links.size === 0)
      this.#redactor = this.#rules && createRedactor(this.#rules, { values: this.#values }).redactor
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
      this.#log.writeFrame(
        `,"server":${toAsciiJson(server)},"event":"server",${serverMembers(redactServerInfo(info, this.#redactor))}`,
      )
    return { log: this.#log, conn }
  }
}

const NOTHING_RECORDED: RecordingSummary = {
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

function serverMembers(info: TapeServer): string {
  return JSON.stringify(info).slice(1, -1)
}

function mixedTransportsError(server: string): ReelayError {
  return new ReelayError('USAGE', `the server ${server} has links of two kinds: HTTP and another`, {
    hint: 'give recordFetch and recordTransport two names',
  })
}

/** One link to one server, on a tape. */
interface RecordedConnection {
  readonly server: string
  readonly conn: number
}

/** The part of a tape that one link writes, message by message. */
export class MessageRecorder {
  readonly #log: TapeLog
  readonly #place: string

  constructor(log: TapeLog, { server, conn }: RecordedConnection) {
    this.#log = log
    this.#place = `,"server":${toAsciiJson(server)},"conn":${conn}`
  }

  /** A message, as a value: it gets the spelling of JSON.stringify. */
  message(dir: Direction, message: unknown): void {
    this.#log.writeFrame(`${this.#place},"dir":"${dir}",${messagePayload(message, this.#log.redactor)}`)
  }

  /** A message that is JSON already: its spelling is kept. */
  text(dir: Direction, text: string): void {
    const { redactor } = this.#log
    this.#log.writeFrame(`${this.#place},"dir":"${dir}","msg":${jsonOnOneLine(redactor?.text(text) ?? text)}`)
  }

  event(event: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.#log.writeFrame(`${this.#place}${encodeEventMembers(event, details, this.#log.redactor)}`)
  }
}

/** What JSON cannot hold is named on the tape, and the recording goes on. */
function messagePayload(message: unknown, redactor: Redactor | undefined): string {
  try {
    const text: string | undefined = JSON.stringify(message)
    if (text !== undefined) return `"msg":${redactor?.text(text) ?? text}`
  } catch (error) {
    return unserializablePayload(message, error instanceof Error ? error.message : String(error), redactor)
  }
  return unserializablePayload(message, 'it has no JSON form', redactor)
}

function unserializablePayload(message: unknown, why: string, redactor: Redactor | undefined): string {
  const raw = { raw: String(message), why: `not JSON: ${why}` }
  return encodeMembers(raw, redactor).slice(1)
}
