import { recordHttp, type HttpRecording } from '../record/http-recorder.ts'
import { nameOfUrl } from '../record/url-tape.ts'
import { readTarget } from '../transport/target.ts'
import { screenRedactor } from '../serve/screen.ts'
import { visible } from '../wire/visible.ts'
import { readListen } from './listen-address.ts'
import { readHeaders } from './record-headers.ts'
import type { UrlArgs } from './record-args.ts'
import { firstSignal } from './first-signal.ts'
import { announce, say, sumUp, tapePath } from './record-talk.ts'
import { TailProcess } from './tail-process.ts'

const MIB = 1024 * 1024

/** Records a server at a URL until a signal ends it. */
export async function recordUrl(args: UrlArgs): Promise<void> {
  const { url, labels, rules, maxLineMiB, redact } = args
  const server = args.server ?? nameOfUrl(readTarget(url))
  const headers = readHeaders(args.headers, process.env)
  const listen = args.listen === undefined ? undefined : readListen(args.listen)
  const view = args.tail ? new TailProcess() : undefined
  const recording = await recordHttp({
    url,
    tape: tapePath(args, server),
    server,
    ...labels,
    redact,
    maxMessageBytes: maxLineMiB * MIB,
    ...(listen && { listen }),
    ...rules,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    onChallenge: once(() => say(headers.length === 0 ? NO_OAUTH : REFUSED)),
    onTape: view?.follow,
    onPending: say,
  })
  introduce(args, recording)
  const signal = await firstSignal()
  const summary = await recording.close()
  await view?.end()
  sumUp(args, summary)
  process.exit(signal === 'SIGINT' ? 130 : 0)
}

/** What the client gets is the server's own answer, unchanged; only the user can be told what to do. */
const NO_OAUTH =
  'the server wants to know who asks (401), and a client cannot run OAuth through this proxy. What works: ' +
  "a token that this proxy holds (--header 'Authorization: Bearer ${env.TOKEN}'), reelay record --forward, " +
  'or recordFetch in the program of the client (docs/oauth.md)'
const REFUSED =
  'the server refused what --header holds (401): it may have expired, or be meant for another server'

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}

function introduce(args: UrlArgs, recording: HttpRecording): void {
  const { url, tape, failure, keyTrouble, isOpen } = recording
  const reach = args.headers.length === 0 ? '' : ', with the headers that it adds'
  if (isOpen)
    say(
      `WARNING: other machines can reach this recorder, and through it ${visible(screenRedactor().url(args.url))}${reach}`,
    )
  announce(args, { path: tape, failure, keyTrouble })
  // Without a port of the user's choice nobody else knows it, however quiet we are to be.
  if (!args.quiet || args.listen === undefined) say(`give this URL to the client: ${url}`)
}
