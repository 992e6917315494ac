import { existsSync } from 'node:fs'
import type { LivePlan } from './live-plan.ts'
import {
  announceEndpoints,
  printServeNote,
  printServeWarning,
  type ServeAddresses,
} from './tapes-to-serve.ts'
import { clientGoneCheck } from '../../link/process/client-gone.ts'
import { Recording, type RecordedLinkOptions } from '../../record/recording.ts'
import { serverName, serverNameFromUrl, stdioServer, tapeHeader } from '../../record/tape-header.ts'
import type { RecordingSummary } from '../../record/tape-log.ts'
import { serveHttp } from '../../serve/http/serve-http.ts'
import type { SessionLimits } from '../../serve/http/session-table.ts'
import type { PlayableTape } from '../../serve/playable-tape.ts'
import type { ServeOptions } from '../../serve/serve-options.ts'
import { PassthroughServer } from '../../serve/upstream/passthrough.ts'
import { Passthrough } from '../../serve/upstream/passthrough.ts'
import { upstreamLink, type UpstreamTarget } from '../../serve/upstream/upstream.ts'
import { replaceTapeIfAnswered } from '../../store/file/rewrite.ts'
import { pickLabels } from '../../tape/header.ts'
import { turnStoreOf } from '../../tape/turns.ts'

/** Opens the live server that answers requests which are not on the tape. */
export function openPassthrough(
  { target, learns }: LivePlan & { kind: 'passthrough' },
  { tape, secrets }: Pick<ServeOptions, 'tape' | 'secrets'>,
): PassthroughServer {
  printServeWarning('requests that are not on the tape are passed to the live server')
  const open = upstreamLink(target, turnStoreOf(tape.turns))
  return new PassthroughServer({
    open,
    learns,
    secrets,
    ...(target.kind === 'url' && { headers: target.headers }),
  })
}

/** Appends the new episode to the tape and reports it. */
export async function appendNewEpisode(
  live: PassthroughServer,
  tape: PlayableTape,
  server: string,
): Promise<void> {
  const { messages, clients } = await live.appendToTape(tape, server)
  if (messages === 0) return
  const from = clients === 1 ? '' : `, from ${clients} clients`
  printServeNote(
    `the tape has a new episode of ${messages} ${messages === 1 ? 'message' : 'messages'}${from}`,
  )
}

export interface LiveRecordingOptions {
  /** Path of the tape. */
  readonly path: string
  readonly target: UpstreamTarget
  /** Name of the server on the tape. */
  readonly server: string | undefined
  /** The addresses on which clients reach the live server; without any, it is served on stdin and stdout. */
  readonly addresses: ServeAddresses
  readonly limits: SessionLimits
  /** Values that the user declared secret. */
  readonly secrets: readonly string[]
  readonly signal: AbortSignal
}

/** Serves and records the live server. An existing tape is replaced only by a complete new one. Returns the exit code. */
export async function recordLiveServer(options: LiveRecordingOptions): Promise<number> {
  const { path, addresses, signal } = options
  const tape = existsSync(path) ? `${path}.${process.pid}.new` : path
  const isOverHttp = addresses.http !== undefined || addresses.sse !== undefined
  printServeNote(`recording the live server to ${path}`)
  const { code, frames, loss } = isOverHttp
    ? { code: 0, ...(await recordOverHttp(options, tape)) }
    : await recordOnStdio(options, tape)
  if (loss !== undefined && frames > 0) printServeNote(`the tape is incomplete: ${loss.why}; it is ${tape}`)
  else if (existsSync(tape) && (await replaceTapeIfAnswered(tape, path)))
    printServeNote(`recorded ${frames} frames to ${path}`)
  else
    printServeNote(
      `the live server sent no response, so ${tape === path ? 'no tape was made' : 'the tape is unchanged'}`,
    )
  return signal.reason === 'SIGINT' ? 130 : code
}

type LiveRecordingResult = Pick<RecordingSummary, 'frames' | 'loss'> & { readonly code: number }

/** Opens a separate link to the live server for each client. Each link is a connection on the tape. */
async function recordOverHttp(
  options: LiveRecordingOptions,
  tape: string,
): Promise<Omit<LiveRecordingResult, 'code'>> {
  const { target, addresses, limits, secrets, signal } = options
  const recording = new Recording({ tape, redact: { values: secrets } })
  const link = linkOptionsFor(options)
  const open = upstreamLink(target, turnStoreOf([]))
  const served = await serveHttp({
    ...addresses,
    ...limits,
    tape: emptyTape(options, link),
    upstream: () => {
      const taped = recording.link(link)
      return new Passthrough({ open, isAlone: true, onMessage: (dir, text) => taped.text(dir, text) })
    },
  })
  announceEndpoints([{ ...served, name: undefined }])
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  await served.close()
  return recording.close()
}

function emptyTape(
  { path }: LiveRecordingOptions,
  { server, info }: RecordedLinkOptions,
): Parameters<typeof serveHttp>[0]['tape'] {
  const header = tapeHeader(new Date(), { [server]: info }, pickLabels({}))
  return { path, header, turns: [], rest: [] }
}

function linkOptionsFor({ target, server }: LiveRecordingOptions): RecordedLinkOptions {
  if (target.kind === 'command')
    return {
      server: server ?? serverName(target.command),
      info: stdioServer(target.command, process.env),
      env: process.env,
    }
  const { url, headers } = target
  return { server: server ?? serverNameFromUrl(url), info: { transport: 'http', url: url.href }, headers }
}

/** Records the session on stdin and stdout, like `reelay record`. */
async function recordOnStdio(
  { target, server, secrets, signal }: LiveRecordingOptions,
  tape: string,
): Promise<LiveRecordingResult> {
  const client = { input: process.stdin, output: process.stdout }
  const named = { ...(server !== undefined && { server }), redact: { values: secrets } }
  if (target.kind === 'url') {
    const { recordBridgeSession } = await import('../../record/bridge.ts')
    const summary = await recordBridgeSession({
      ...named,
      url: target.url.href,
      headers: target.headers,
      tape,
      client: { ...client, isGone: clientGoneCheck() },
      onBegin: () => {},
      say: printServeNote,
      stop: signal,
    })
    return { ...summary, code: 0 }
  }
  const { Recorder } = await import('../../record/stdio/recorder.ts')
  const recorder = new Recorder()
  signal.addEventListener('abort', () => void recorder.stop())
  const { exit, ...summary } = await recorder.start({ ...named, command: target.command, tape, client })
  return { ...summary, code: exit.code ?? 1 }
}
