import { recordBridgeSession } from '../../record/bridge.ts'
import { serverNameFromUrl } from '../../record/tape-header.ts'
import { clientGoneCheck } from '../../link/process/client-gone.ts'
import { parseServerUrl } from '../../http/hosts.ts'
import { waitForSignal } from '../signals.ts'
import { prepareInterception } from './intercept.ts'
import type { RecordBridgeArgs } from '../options/record-options.ts'
import {
  announceRecording,
  printNotice,
  printRecordingSummary,
  printTapeProblem,
  recordingPath,
  recordingView,
} from './record-output.ts'
import { createOutputRedactor } from '../output/redact-output.ts'

/** Bridges a stdio client to the server at a URL and records the session, until the client or a signal ends it. */
export async function runBridgeRecording(args: RecordBridgeArgs): Promise<void> {
  const server = args.server ?? serverNameFromUrl(parseServerUrl(args.url))
  const view = recordingView(args)
  const shown = createOutputRedactor() // a message may quote the server
  const stop = new AbortController()
  void waitForSignal().then((signal) => stop.abort(signal))
  process.stdout.on('error', () => stop.abort('the client is gone'))
  const interception = prepareInterception(args)
  const summary = await recordBridgeSession({
    interceptor: interception?.interceptor,
    ...args.rules,
    url: args.url,
    tape: recordingPath(args, server),
    server,
    ...args.labels,
    redact: args.redact,
    maxMessageBytes: args.maxLineBytes,
    headers: Object.fromEntries(args.headers.map(({ name, value }) => [name, value])),
    client: { input: process.stdin, output: process.stdout, isGone: clientGoneCheck() },
    onBegin: (begun) => {
      announceRecording(args, begun)
      void interception?.listen(begun.path)
    },
    onTape: view?.follow,
    onTrouble: printTapeProblem,
    onPending: printNotice,
    say: (text) => printNotice(shown(text)),
    stop: stop.signal,
  })
  interception?.close()
  await view?.end()
  printRecordingSummary(args, summary)
  process.exit(stop.signal.reason === 'SIGINT' ? 130 : 0)
}
