import type { MessageTaker } from './bodies.ts'
import type { MessageInterceptor } from '../intercept/link-interceptor.ts'
import type { AddedHeader } from '../../http/headers.ts'
import { pickLabels, type TapeLabelOptions } from '../../tape/header.ts'
import { messageFilterFor } from '../message-filter.ts'
import type { RecordingRedaction, RedactOption } from '../redaction.ts'
import { serverNameFromUrl } from '../tape-header.ts'
import { type RecordingRules, TapeLog } from '../tape-log.ts'
import { ExchangeRecorder } from './exchange-recorder.ts'

/** Options for recording a server at a URL, through a proxy or a bridge. */
export interface RecordUrlOptions extends RecordingRules, TapeLabelOptions {
  /** The URL that the client would use for the server. */
  readonly url: string
  /** The tape file. An existing one is never overwritten. */
  readonly tape: string
  /** The name of the server on the tape; by default its host. */
  readonly server?: string
  /** The longest message that is recorded. */
  readonly maxMessageBytes?: number
  /** Headers that are added to every request, such as a token that the client does not have. They replace the client's headers of the same name, and are not recorded. */
  readonly headers?: Readonly<Record<string, string>>
  /** How secrets are treated; by default they are replaced by placeholders. */
  readonly redact?: RedactOption
  /** Called when the server responds with status 401: a client cannot run OAuth through the recorder. */
  readonly onChallenge?: () => void
  /** Called for each new tape. */
  readonly onTape?: ((path: string) => void) | undefined
  /** Called once with a text for the user, when the tape cannot be written any more. */
  readonly onTrouble?: (text: string) => void
  /** Called with a text for the user when a request has had no response for `pendingMs`. */
  readonly onPending?: (text: string) => void
  /** Holds messages, if the user wants that. */
  readonly interceptor?: MessageInterceptor | undefined
}

const MAX_MESSAGE_BYTES = 256 * 1024 * 1024

/** Starts the tape of a server at a URL. */
export function createUrlRecorder(
  options: RecordUrlOptions,
  url: URL,
  { redactor, vault }: RecordingRedaction,
  taker?: MessageTaker,
): ExchangeRecorder {
  const server = options.server ?? serverNameFromUrl(url)
  // The added headers are not recorded, but the server may repeat their values.
  for (const { name, value } of addedHeadersOf(options)) redactor?.learnHeader(name, value)
  const log = new TapeLog({
    continuesProbe: true,
    path: options.tape,
    servers: () => ({ [server]: { transport: 'http', url: url.href } }),
    labels: pickLabels(options),
    limits: options.limits,
    onTape: options.onTape,
    onTrouble: options.onTrouble,
    redactor,
    vault,
  })
  return new ExchangeRecorder({
    log,
    server: () => server,
    url,
    maxBytes: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    cutBytes: options.cutBytes,
    filter: messageFilterFor(options, log),
    onChallenge: options.onChallenge,
    // A bridge holds messages itself.
    interceptor: taker === undefined ? options.interceptor : undefined,
    taker,
  })
}

export function addedHeadersOf({ headers = {} }: RecordUrlOptions): readonly AddedHeader[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }))
}
