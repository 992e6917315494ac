import { existsSync } from 'node:fs'
import { stdioServer, tapeHeader } from '../record/header.ts'
import { Recording, type LinkOptions } from '../record/recording.ts'
import { serverName } from '../record/server-name.ts'
import type { Summary } from '../record/recording-summary.ts'
import { nameOfUrl } from '../record/url-tape.ts'
import { serveHttp } from '../serve/http/serve-http.ts'
import { linkTo, type LiveTarget } from '../serve/live-target.ts'
import { Passthrough } from '../serve/passthrough.ts'
import { keepTape } from '../store/keep-tape.ts'
import { labelsOf } from '../tape/labels.ts'
import { heldTurns } from '../tape/turn-store.ts'
import { watchClient } from '../transport/client-gone.ts'
import { say as tell, sayWhere } from './serve-talk.ts'
import type { Places } from './wanted-tapes.ts'

export interface Anew {
  /** Where the tape is to be. */
  readonly path: string
  readonly target: LiveTarget
  /** What to call the server on it. */
  readonly server: string | undefined
  /** Where clients find the live server; on stdin and stdout if nowhere else. */
  readonly places: Places
  /** Values that are secret because the user says so. */
  readonly secrets: readonly string[]
  readonly signal: AbortSignal
}

/** Is the live server and records it; a tape that is there is replaced only by a whole new one. Gives the exit code. */
export async function recordAnew(anew: Anew): Promise<number> {
  const { path, places, signal } = anew
  const tape = existsSync(path) ? `${path}.${process.pid}.new` : path
  const isOverHttp = places.http !== undefined || places.sse !== undefined
  say(`recording the live server to ${path}`)
  const { code, frames, loss } = isOverHttp
    ? { code: 0, ...(await recordOverHttp(anew, tape)) }
    : await recordOnStdio(anew, tape)
  if (loss !== undefined && frames > 0) say(`the tape is incomplete: ${loss.why}; it is ${tape}`)
  else if (existsSync(tape) && (await keepTape(tape, path))) say(`recorded ${frames} frames to ${path}`)
  else say(`the live server said nothing, so ${tape === path ? 'no tape was made' : 'the tape is as it was'}`)
  return signal.reason === 'SIGINT' ? 130 : code
}

type Recorded = Pick<Summary, 'frames' | 'loss'> & { readonly code: number }

/** Every client has a link of its own to the live server, and each is a connection on the tape. */
async function recordOverHttp(anew: Anew, tape: string): Promise<Omit<Recorded, 'code'>> {
  const { target, places, secrets, signal } = anew
  const recording = new Recording({ tape, redact: { values: secrets } })
  const link = linkFor(anew)
  const open = linkTo(target, heldTurns([]))
  const served = await serveHttp({
    ...places,
    tape: emptyTape(anew, link),
    elsewhere: () => {
      const taped = recording.link(link)
      return new Passthrough({ open, isAlone: true, onMessage: (dir, text) => taped.text(dir, text) })
    },
  })
  sayWhere([{ ...served, name: undefined }])
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  await served.close()
  return recording.close()
}

function emptyTape({ path }: Anew, { server, info }: LinkOptions): Parameters<typeof serveHttp>[0]['tape'] {
  const header = tapeHeader(new Date(), { [server]: info }, labelsOf({}))
  return { path, header, turns: [], rest: [] }
}

function linkFor({ target, server }: Anew): LinkOptions {
  if (target.kind === 'command')
    return {
      server: server ?? serverName(target.command),
      info: stdioServer(target.command, process.env),
      env: process.env,
    }
  const { url, headers } = target
  return { server: server ?? nameOfUrl(url), info: { transport: 'http', url: url.href }, headers }
}

/** As `reelay record` does it. */
async function recordOnStdio({ target, server, secrets, signal }: Anew, tape: string): Promise<Recorded> {
  const client = { input: process.stdin, output: process.stdout }
  const named = { ...(server !== undefined && { server }), redact: { values: secrets } }
  if (target.kind === 'url') {
    const { recordBridge } = await import('../record/bridge-recorder.ts')
    const summary = await recordBridge({
      ...named,
      url: target.url.href,
      headers: target.headers,
      tape,
      client: { ...client, isGone: watchClient() },
      onBegin: () => {},
      say,
      stop: signal,
    })
    return { ...summary, code: 0 }
  }
  const { Recorder } = await import('../record/recorder.ts')
  const recorder = new Recorder()
  signal.addEventListener('abort', () => void recorder.stop())
  const { exit, ...summary } = await recorder.start({ ...named, command: target.command, tape, client })
  return { ...summary, code: exit.code ?? 1 }
}

function say(text: string): void {
  tell(`reelay serve: ${text}`)
}
