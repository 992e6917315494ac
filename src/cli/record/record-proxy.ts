import { rmSync } from 'node:fs'
import { withDocsPaths } from '../reelay-command.ts'
import { usageError } from '../options/option.ts'
import type { RecordUrlArgs, RecordForwardArgs } from '../options/record-options.ts'
import {
  announceRecording,
  printClientConfig,
  printNotice,
  printRecordingSummary,
  printTapeProblem,
  recordingPath,
  recordingView,
} from './record-output.ts'
import { prepareInterception } from './intercept.ts'
import { waitForSignal, exitLike } from '../signals.ts'
import { ReelayError } from '../../errors.ts'
import { isLoopback, parseServerUrl } from '../../http/hosts.ts'
import type { ListenAddress } from '../../http/server/http-server.ts'
import { runWithInheritedStdio } from '../../link/process/run-inherited.ts'
import { proxyEnvironment, writeTrustFiles } from '../../record/http/proxy-environment.ts'
import { recordForwardProxy, type ForwardProxyNotice } from '../../record/http/record-forward.ts'
import { recordHttp, type HttpRecording } from '../../record/http/record-url.ts'
import { serverNameFromUrl } from '../../record/tape-header.ts'
import { createThrowawayRedactor } from '../../serve/redaction/report-redactor.ts'
import { caFolder, readCa, type CaFiles } from '../../store/ca-files.ts'
import { escapeControlChars } from '../../text.ts'

/** Records a server at a URL until a signal ends it. */
export async function runUrlRecording(args: RecordUrlArgs): Promise<void> {
  const { url, headers, listen, labels, rules, maxLineBytes, redact } = args
  const server = args.server ?? serverNameFromUrl(parseServerUrl(url))
  const view = recordingView(args)
  const interception = prepareInterception(args)
  const recording = await recordHttp({
    interceptor: args.interceptor ?? interception?.interceptor,
    url,
    tape: recordingPath(args, server),
    server,
    ...labels,
    redact,
    maxMessageBytes: maxLineBytes,
    ...(listen && { listen }),
    ...rules,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    onChallenge: onlyOnce(() =>
      printNotice(headers.length === 0 ? withDocsPaths(OAUTH_NOTICE) : REFUSED_NOTICE),
    ),
    onTape: view?.follow,
    onTrouble: printTapeProblem,
    onPending: printNotice,
  })
  const ended = waitForSignal() // before the user is told that Ctrl+C ends it
  await interception?.listen(recording.tape)
  announceProxy(args, recording, server)
  const signal = await ended
  interception?.close()
  const summary = await recording.close()
  await view?.end()
  printRecordingSummary(args, summary)
  process.exit(signal === 'SIGINT' ? 130 : 0)
}

/** The client gets the response of the server unchanged, so the advice is printed for the user. */
const OAUTH_NOTICE =
  'the server requires authentication (401). A token that the client sends is passed on and not recorded; ' +
  "or let this proxy add one: --header 'Authorization: Bearer ${env.TOKEN}'. An OAuth login does not work through " +
  'this proxy: use reelay record --forward, or recordFetch in the program of the client (docs/how-to/record-with-oauth.md)'
const REFUSED_NOTICE =
  'the server rejected the credentials in --header (401): they may have expired or belong to another server'

function onlyOnce(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}

function announceProxy(args: RecordUrlArgs, recording: HttpRecording, server: string): void {
  const { url, tape, failure, keyTrouble, isOpen } = recording
  const reach = args.headers.length === 0 ? '' : ', with the headers that it adds'
  if (isOpen)
    printNotice(
      `WARNING: other machines can reach this recorder, and through it ${escapeControlChars(createThrowawayRedactor().url(args.url))}${reach}`,
    )
  announceRecording(args, { path: tape, failure, keyTrouble })
  // Printed even with --quiet if the port was chosen automatically.
  if (!args.quiet || args.listen === undefined) printNotice(`give this URL to the client: ${url}`)
  printClientConfig(args, server, { type: isSseUrl(url) ? 'sse' : 'http', url })
}

/** Clients need the transport in their config. The path is all that is known of it before the first request. */
function isSseUrl(url: string): boolean {
  return new URL(url).pathname.endsWith('/sse')
}

/** Records whatever servers a client names, until the client command or a signal ends it. */
export async function runForwardRecording(args: RecordForwardArgs): Promise<void> {
  const listen = args.listen ?? { host: '127.0.0.1', port: 0 }
  rejectOtherMachines(listen)
  const ca = usableCa()
  const view = recordingView(args)
  const interception = prepareInterception(args)
  const recording = await recordForwardProxy({
    interceptor: interception?.interceptor,
    listen,
    tape: recordingPath(args, args.server ?? 'forward'),
    server: args.server,
    ...args.labels,
    redact: args.redact,
    maxMessageBytes: args.maxLineBytes,
    ...args.rules,
    onTape: view?.follow,
    onTrouble: printTapeProblem,
    onPending: printNotice,
    onNotice: (notice) => printNotice(noticeText(notice)),
    ...(ca && {
      contextFor: await (await import('../../http/proxy/certificates.ts')).certificateContexts(ca),
    }),
  })
  const { tape, failure, keyTrouble } = recording
  announceRecording(args, { path: tape, failure, keyTrouble })
  await interception?.listen(tape)
  const trust = ca && writeTrustFiles(caFolder(), ca, process.env)
  const added = proxyEnvironment({ env: process.env, proxy: recording.proxy, trust })
  const finish = async (): Promise<void> => {
    interception?.close()
    const summary = await recording.close()
    await view?.end()
    printRecordingSummary(args, summary)
  }
  if (args.command === undefined) {
    const ended = waitForSignal()
    printProxyVariables(added)
    const signal = await ended
    await finish()
    process.exit(signal === 'SIGINT' ? 130 : 0)
  }
  const ending = runWithInheritedStdio(args.command, { ...process.env, ...added })
  const [ended] = await Promise.allSettled([ending])
  if (ended.status === 'rejected') {
    await recording.close()
    await view?.end()
    if (tape !== undefined) rmSync(tape, { force: true }) // the client could not be started
    throw ended.reason
  }
  await finish()
  const end = await ending
  if (!recording.isUsed()) printNotice(withDocsPaths(UNUSED_NOTICE))
  exitLike(end)
}

/** Printed even with --quiet: the tape is empty although the client worked. */
const UNUSED_NOTICE =
  'nothing went through this proxy: the command used no server, or ignores HTTP_PROXY, as Node before 24 does. ' +
  'Alternatives: reelay run --record <tape> -- <command>, recordFetch in its program, or reelay record --url (docs/how-to/record-with-oauth.md)'

/** A forward proxy gives its clients access to everything that this machine can reach. */
function rejectOtherMachines({ host }: ListenAddress): void {
  if (isLoopback(host)) return
  throw usageError(
    `--forward cannot listen on ${host}: other machines could use the proxy`,
    'listen on 127.0.0.1',
  )
}

/** Returns the local CA, if there is one. */
export function usableCa(): CaFiles | undefined {
  const ca = readCa(caFolder())
  if (ca === undefined || ca.expires.getTime() > Date.now()) return ca
  throw new ReelayError('CA_UNUSABLE', `the local CA expired on ${ca.expires.toISOString().slice(0, 10)}`, {
    hint: 'create a new one: reelay ca remove, then reelay ca create',
  })
}

/** Printed even with --quiet: without these variables nothing is recorded. */
function printProxyVariables(added: Readonly<Record<string, string>>): void {
  printNotice('start the client with these variables:')
  for (const [name, value] of Object.entries(added)) printNotice(`  ${name}=${value}`)
}

function noticeText(notice: ForwardProxyNotice): string {
  if (notice.kind === 'unauthorized')
    return 'a program used this proxy without the user name and password in HTTP_PROXY, and was rejected (407)'
  const { kind } = notice
  const name = escapeControlChars(notice.host)
  if (kind === 'tunnelled')
    return `not recording ${name}: HTTPS is forwarded unread without a local CA for this host; see reelay ca create`
  return `nothing came from a client of ${name}: it may not trust the local CA; see reelay ca show`
}
