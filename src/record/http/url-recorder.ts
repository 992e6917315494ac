import type { AddedHeader } from '../../http/headers.ts'
import { httpHeader } from '../tape-header.ts'
import { ExchangeRecorder } from './exchange-recorder.ts'
import { pickLabels, type TapeLabelOptions } from '../../tape/header.ts'
import { messageFilterFor } from '../message-filter.ts'
import type { RecordingRedaction, RedactOption } from '../redaction.ts'
import { serverNameFromUrl } from '../server-name.ts'
import { TapeLog } from '../tape-log.ts'
import type { RecordingRules } from '../limits.ts'

/** What is said of the tape of a server at a URL, whoever its client is. */
export interface RecordUrlOptions extends RecordingRules, TapeLabelOptions {
  /** The server, as its client would name it. */
  readonly url: string
  /** The tape file; an existing one is never written over. */
  readonly tape: string
  /** What to call the server on the tape. */
  readonly server?: string
  /** The longest message that is taped. */
  readonly maxMessageBytes?: number
  /** Headers that are added to every request, in place of the client's of the same name: a token that the client does not have. They do not reach the tape. */
  readonly headers?: Readonly<Record<string, string>>
  /** How secrets are treated; by default they are replaced by stand-ins. */
  readonly redact?: RedactOption
  /** Told when the server answers with status 401: a client cannot run OAuth through the recorder. */
  readonly onChallenge?: () => void
  /** Told of every tape that is begun. */
  readonly onTape?: ((path: string) => void) | undefined
  /** Told in words of a request that has had no answer for `pendingMs`. */
  readonly onPending?: (words: string) => void
}

const MAX_MESSAGE_BYTES = 256 * 1024 * 1024

/** Begins the tape of a server at a URL. */
export function createUrlRecorder(
  options: RecordUrlOptions,
  url: URL,
  { redactor, vault }: RecordingRedaction,
): ExchangeRecorder {
  const { tape: path, limits, cutBytes, onTape, onChallenge } = options
  const server = options.server ?? serverNameFromUrl(url)
  const header = (started: Date): ReturnType<typeof httpHeader> =>
    httpHeader({ started, server, url: url.href, labels: pickLabels(options) })
  // They are not taped, but the server may repeat them.
  for (const { name, value } of addedHeadersOf(options)) redactor?.learnHeader(name, value)
  const log = new TapeLog({ path, header, redactor, vault, onTape, ...(limits && { limits }) })
  return new ExchangeRecorder({
    log,
    server: () => server,
    url,
    maxBytes: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    cutBytes,
    filter: messageFilterFor(options, log),
    onChallenge,
  })
}

export function addedHeadersOf({ headers = {} }: RecordUrlOptions): readonly AddedHeader[] {
  return Object.entries(headers).map(([name, value]) => ({ name, value }))
}
