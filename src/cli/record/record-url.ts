import { recordHttp, type HttpRecording } from '../../record/http/record-url.ts'
import { serverNameFromUrl } from '../../record/server-name.ts'
import { parseServerUrl } from '../../http/server-url.ts'
import { createThrowawayRedactor } from '../../serve/redaction/report-redactor.ts'
import { escapeControlChars } from '../../text.ts'
import type { RecordUrlArgs } from '../options/record-options.ts'
import { waitForSignal } from '../signals.ts'
import {
  announceRecording,
  printNotice,
  printRecordingSummary,
  recordingPath,
  TailProcess,
} from './record-output.ts'

/** Records a server at a URL until a signal ends it. */
export async function runUrlRecording(args: RecordUrlArgs): Promise<void> {
  const { url, headers, listen, labels, rules, maxLineBytes, redact } = args
  const server = args.server ?? serverNameFromUrl(parseServerUrl(url))
  const view = args.tail ? new TailProcess() : undefined
  const recording = await recordHttp({
    url,
    tape: recordingPath(args, server),
    server,
    ...labels,
    redact,
    maxMessageBytes: maxLineBytes,
    ...(listen && { listen }),
    ...rules,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    onChallenge: onlyOnce(() => printNotice(headers.length === 0 ? OAUTH_NOTICE : REFUSED_NOTICE)),
    onTape: view?.follow,
    onPending: printNotice,
  })
  announceProxy(args, recording)
  const signal = await waitForSignal()
  const summary = await recording.close()
  await view?.end()
  printRecordingSummary(args, summary)
  process.exit(signal === 'SIGINT' ? 130 : 0)
}

/** The client gets the response of the server unchanged, so the advice is printed for the user. */
const OAUTH_NOTICE =
  'the server requires authentication (401), and a client cannot run OAuth through this proxy. Alternatives: ' +
  "a token that this proxy holds (--header 'Authorization: Bearer ${env.TOKEN}'), reelay record --forward, " +
  'or recordFetch in the program of the client (docs/how-to/record-with-oauth.md)'
const REFUSED_NOTICE =
  'the server rejected the credentials in --header (401): they may have expired, or belong to another server'

function onlyOnce(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}

function announceProxy(args: RecordUrlArgs, recording: HttpRecording): void {
  const { url, tape, failure, keyTrouble, isOpen } = recording
  const reach = args.headers.length === 0 ? '' : ', with the headers that it adds'
  if (isOpen)
    printNotice(
      `WARNING: other machines can reach this recorder, and through it ${escapeControlChars(createThrowawayRedactor().url(args.url))}${reach}`,
    )
  announceRecording(args, { path: tape, failure, keyTrouble })
  // Printed even with --quiet if the port was chosen automatically.
  if (!args.quiet || args.listen === undefined) printNotice(`give this URL to the client: ${url}`)
}
