import { ReelayError } from '../errors.ts'
import { recordForward as startForward, type ForwardNotice } from '../record/forward-recorder.ts'
import { proxyEnv } from '../record/proxy-env.ts'
import { caFolder, readCa, type CaFiles } from '../store/ca-files.ts'
import { runInherited } from '../transport/inherited-process.ts'
import type { Listen } from '../transport/listen.ts'
import { isLoopback } from '../transport/loopback.ts'
import { visible } from '../wire/visible.ts'
import { endAs } from './end-as.ts'
import { firstSignal } from './first-signal.ts'
import { readListen } from './listen-address.ts'
import type { ForwardArgs } from './record-args.ts'
import { announce, say, sumUp, tapePath } from './record-talk.ts'
import { TailProcess } from './tail-process.ts'

const MIB = 1024 * 1024

/** Records whatever servers a client names, until the client command or a signal ends it. */
export async function recordForward(args: ForwardArgs): Promise<void> {
  const listen = readLoopback(args.listen ?? '127.0.0.1:0')
  const ca = usableCa()
  const view = args.tail ? new TailProcess() : undefined
  const recording = await startForward({
    listen,
    tape: tapePath(args, args.server ?? 'forward'),
    server: args.server,
    ...args.labels,
    redact: args.redact,
    maxMessageBytes: args.maxLineMiB * MIB,
    ...args.rules,
    onTape: view?.follow,
    onPending: say,
    onNotice: (notice) => say(inWords(notice)),
    ...(ca && { contextFor: (await import('../transport/certificates.ts')).leafContexts(ca) }),
  })
  const { tape, failure, keyTrouble } = recording
  announce(args, { path: tape, failure, keyTrouble })
  const trust = ca && (await import('../record/trust-files.ts')).trustFiles(caFolder(), ca, process.env)
  const added = proxyEnv({ env: process.env, proxy: recording.proxy, trust })
  const finish = async (): Promise<void> => {
    const summary = await recording.close()
    await view?.end()
    sumUp(args, summary)
  }
  if (args.command === undefined) {
    introduce(added)
    const signal = await firstSignal()
    await finish()
    process.exit(signal === 'SIGINT' ? 130 : 0)
  }
  const ending = runInherited(args.command, { ...process.env, ...added })
  await Promise.allSettled([ending])
  await finish()
  const end = await ending
  if (!recording.isUsed()) say(NOBODY_CAME)
  endAs(end)
}

/** Said however quiet we are to be: the tape is empty, and the client worked. */
const NOBODY_CAME =
  'nothing went through this proxy: the command asked no server, or pays no heed to HTTP_PROXY, as Node before 24. What ' +
  'works there: reelay run --record <tape> -- <command>, recordFetch in its program, or reelay record --url (docs/oauth.md)'

/** Never for other machines: they could reach through us whatever we can. */
function readLoopback(text: string): Listen {
  const listen = readListen(text)
  if (isLoopback(listen.host)) return listen
  throw new ReelayError('USAGE', `--forward does not listen on ${listen.host}: other machines could use it`, {
    hint: 'listen on 127.0.0.1',
  })
}

function usableCa(): CaFiles | undefined {
  const ca = readCa(caFolder())
  if (ca === undefined || ca.expires.getTime() > Date.now()) return ca
  throw new ReelayError('CA_UNUSABLE', `the local CA expired on ${ca.expires.toISOString().slice(0, 10)}`, {
    hint: 'make a new one: reelay ca remove, then reelay ca create',
  })
}

/** Said however quiet we are to be: without them nobody is recorded. */
function introduce(added: Readonly<Record<string, string>>): void {
  say('start the client with these variables:')
  for (const [name, value] of Object.entries(added)) say(`  ${name}=${value}`)
}

function inWords({ kind, host }: ForwardNotice): string {
  const name = visible(host)
  if (kind === 'tunnelled')
    return `not recording ${name}: HTTPS passes untouched without a local CA; make one with reelay ca create`
  return `nothing came from a client of ${name}: it may not trust the local CA; see reelay ca show`
}
