import { recordBridge as startBridge } from '../record/bridge-recorder.ts'
import { nameOfUrl } from '../record/url-tape.ts'
import { watchClient } from '../transport/client-gone.ts'
import { readTarget } from '../transport/target.ts'
import { firstSignal } from './first-signal.ts'
import type { BridgeArgs } from './record-args.ts'
import { readHeaders } from './record-headers.ts'
import { announce, say, sumUp, tapePath } from './record-talk.ts'
import { TailProcess } from './tail-process.ts'
import { withoutSecrets } from './without-secrets.ts'

const MIB = 1024 * 1024

/** Is the server at a URL for a client that started us as a command, until the client or a signal ends it. */
export async function recordBridge(args: BridgeArgs): Promise<void> {
  const server = args.server ?? nameOfUrl(readTarget(args.url))
  const headers = readHeaders(args.headers, process.env)
  const view = args.tail ? new TailProcess() : undefined
  const shown = withoutSecrets() // words of the server may be among them
  const stop = new AbortController()
  void firstSignal().then((signal) => stop.abort(signal))
  process.stdout.on('error', () => stop.abort('the client is gone'))
  const summary = await startBridge({
    ...args.rules,
    url: args.url,
    tape: tapePath(args, server),
    server,
    ...args.labels,
    redact: args.redact,
    maxMessageBytes: args.maxLineMiB * MIB,
    headers: Object.fromEntries(headers.map(({ name, value }) => [name, value])),
    client: { input: process.stdin, output: process.stdout, isGone: watchClient() },
    onBegin: (begun) => announce(args, begun),
    onTape: view?.follow,
    onPending: say,
    say: (words) => say(shown(words)),
    stop: stop.signal,
  })
  await view?.end()
  sumUp(args, summary)
  process.exit(stop.signal.reason === 'SIGINT' ? 130 : 0)
}
