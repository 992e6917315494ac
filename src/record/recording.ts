import { errorMessage, ReelayError } from '../errors.ts'
import { toAsciiJson } from '../json/parse.ts'
import type { Direction } from '../protocol/message.ts'
import { redactServerInfo } from '../redact/redact-tape.ts'
import type { Redactor } from '../redact/redactor.ts'
import type { RedactionRuleSet } from '../redact/rule-set.ts'
import { resolveTape } from '../store/home.ts'
import type { Vault } from '../store/vault.ts'
import { pickLabels, type TapeLabelOptions, type TapeLabels, type TapeServer } from '../tape/header.ts'
import { encodeEventMembers, encodeMembers, encodeMessage } from './frame-writer.ts'
import { ExchangeRecorder } from './http/exchange-recorder.ts'
import {
  createRedactor,
  knownSecretValues,
  openVault,
  redactionRulesFor,
  type RedactOption,
} from './redaction.ts'
import { StdioRecorder } from './stdio/stdio-recorder.ts'
import { type RecordingSummary, TapeLog } from './tape-log.ts'

/*
 * Every recording has one `TapeLog`. It owns the tape: it creates the file, rotates it at a limit, and closes it with a
 * summary. Recorders write frames to the log, and none of them owns a file. There is one recorder for each kind of traffic:
 *
 *   StdioRecorder     lines of a process, stderr and events
 *   ExchangeRecorder  HTTP exchanges (bodies.ts reads their bodies, exchange-frames.ts writes their frames)
 *   MessageRecorder   messages that are values
 *
 * The first two write messages with a `FrameWriter`, which keeps their bytes and replaces secrets. These create a log and
 * its recorders:
 *
 *   Recording            one tape for all connections of a program: the library, `reelay run`, import, serve and replay
 *   Recorder             stdio sessions over streams of the caller
 *   recordHttp           a server behind a reverse proxy
 *   recordForwardProxy   all servers behind a forward proxy
 *   recordBridgeSession  an HTTP server for a stdio client
 */

export interface RecordingOptions extends TapeLabelOptions {
  /** A tape name, or the path of a tape file. An existing one is never overwritten. */
  readonly tape: string
  /** How secrets are treated; by default they are replaced by placeholders. */
  readonly redact?: RedactOption
}

/** A connection to a server that is recorded. */
export interface RecordedLinkOptions {
  /** The name of the server on the tape. Links with the same name are connections 1, 2, … of one server. */
  readonly server: string
  readonly info: TapeServer
  /** The environment of the server. Values of variables whose names suggest a secret are replaced everywhere. */
  readonly env?: NodeJS.ProcessEnv | undefined
  /** Headers that the client sends with every request. Their secrets are replaced, because the server may repeat them. */
  readonly headers?: Readonly<Record<string, string>>
}

const MAX_BYTES = 256 * 1024 * 1024

/**
 * A tape for several connections, to one server or to several. The file is created with the first connection. If the tape
 * cannot be written, the summary says why, and the connections continue.
 */
export class Recording {
  readonly #path: string
  readonly #labels: TapeLabels
  readonly #rules: RedactionRuleSet | undefined
  readonly #values: readonly string[]
  readonly #vault: Vault | undefined
  /** The number of connections by server name. */
  readonly #connections = new Map<string, number>()
  readonly #http = new Map<string, ExchangeRecorder>()
  #redactor: Redactor | undefined
  #log: TapeLog | undefined

  constructor({ tape, redact, ...labels }: RecordingOptions) {
    this.#path = resolveTape(tape)
    this.#labels = pickLabels(labels)
    this.#rules = redactionRulesFor(redact)
    this.#values = knownSecretValues(redact)
    this.#vault = openVault(redact, this.#path)
  }

  /** The path of the tape. Undefined until it is created. */
  get path(): string | undefined {
    return this.#log?.path
  }

  /** Why the tape is missing or incomplete. */
  get failure(): string | undefined {
    return this.#log?.failure
  }

  /** Adds a connection whose messages are values. */
  link(options: RecordedLinkOptions): MessageRecorder {
    const { log, conn } = this.#connect(options)
    return new MessageRecorder(log, options.server, conn)
  }

  /** Adds a connection over the pipes of a process. */
  pipes(options: RecordedLinkOptions): StdioRecorder {
    const { log, conn } = this.#connect(options)
    return new StdioRecorder({ log, server: options.server, conn, maxLineBytes: MAX_BYTES })
  }

  /** Records HTTP exchanges with a server. Their sessions number its connections, so it cannot have connections of other kinds. */
  http(server: string, url: URL): ExchangeRecorder {
    const known = this.#http.get(server)
    if (known !== undefined) return known
    if (this.#connections.has(server)) throw mixedTransportsError(server)
    const { log } = this.#connect({ server, info: { transport: 'http', url: url.href } })
    const recorder = new ExchangeRecorder({ log, server: () => server, url, maxBytes: MAX_BYTES })
    this.#http.set(server, recorder)
    return recorder
  }

  /** Finishes the tape. May be called more than once. Later messages are not recorded. */
  async close(): Promise<RecordingSummary> {
    if (this.#log === undefined) return NOTHING_RECORDED
    for (const recorder of this.#http.values()) recorder.settle()
    const servers = [...this.#connections.keys()].slice(1).map(toAsciiJson)
    return this.#log.finish(servers.length === 0 ? '' : `,"servers":[${servers.join()}]`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #connect({ server, info, env, headers = {} }: RecordedLinkOptions): {
    readonly log: TapeLog
    readonly conn: number
  } {
    if (this.#http.has(server)) throw mixedTransportsError(server)
    const conn = (this.#connections.get(server) ?? 0) + 1
    this.#connections.set(server, conn)
    if (this.#log === undefined && this.#rules !== undefined)
      this.#redactor = createRedactor(this.#rules, {
        values: this.#values,
        keepsValues: this.#vault !== undefined,
      }).redactor
    if (env !== undefined) this.#redactor?.learnEnv(env)
    for (const [name, value] of Object.entries(headers)) this.#redactor?.learnHeader(name, value)
    this.#log ??= new TapeLog({
      path: this.#path,
      servers: () => ({ [server]: info }),
      labels: this.#labels,
      redactor: this.#redactor,
      vault: this.#vault,
    })
    // A tape only grows at its end, so a further server cannot be added to the header.
    if (this.#connections.size > 1 && conn === 1)
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
  loss: { why: 'there was no connection to record', frames: 0 },
  secrets: 0,
  vault: undefined,
  stoppedAt: undefined,
}

/**
 * Creates a tape that several transports can be recorded to.
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
  return new ReelayError('USAGE', `the server ${server} is recorded over HTTP and over another transport`, {
    hint: 'use different server names for recordFetch and recordTransport',
  })
}

/** Records one connection, message by message. */
export class MessageRecorder {
  readonly #log: TapeLog
  readonly #place: string

  constructor(log: TapeLog, server: string, conn: number) {
    this.#log = log
    this.#place = `,"server":${toAsciiJson(server)},"conn":${conn}`
  }

  /** Records a message that is a value, in the spelling of JSON.stringify. */
  message(dir: Direction, message: unknown): void {
    this.#log.writeFrame(`${this.#place},"dir":"${dir}",${messagePayload(message, this.#log.redactor)}`)
  }

  /** Records a message that is JSON text, in its own spelling. */
  text(dir: Direction, text: string): void {
    this.#log.writeFrame(`${this.#place},"dir":"${dir}",${encodeMessage(text, this.#log.redactor)}`)
  }

  event(event: string, details: Readonly<Record<string, unknown>> = {}): void {
    this.#log.writeFrame(`${this.#place}${encodeEventMembers(event, details, this.#log.redactor)}`)
  }
}

/** A value that has no JSON form becomes a raw frame that says so. */
function messagePayload(message: unknown, redactor: Redactor | undefined): string {
  try {
    const text: string | undefined = JSON.stringify(message)
    if (text !== undefined) return encodeMessage(text, redactor)
  } catch (error) {
    return unserializablePayload(message, errorMessage(error), redactor)
  }
  return unserializablePayload(message, 'it has no JSON form', redactor)
}

function unserializablePayload(message: unknown, why: string, redactor: Redactor | undefined): string {
  const raw = { raw: String(message), why: `not JSON: ${why}` }
  return encodeMembers(raw, redactor).slice(1)
}
