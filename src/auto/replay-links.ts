import { existsSync } from 'node:fs'
import { ReelayError } from '../errors.ts'
import { missAsText } from '../match/miss-text.ts'
import { serverName } from '../record/server-name.ts'
import { nameOfUrl } from '../record/url-tape.ts'
import { serveCommandLine } from '../serve/command-line.ts'
import { driftAsText, hasDrifted, type Drift } from '../serve/drift.ts'
import { screenFor } from '../serve/screen.ts'
import { playerOptions, type ServeOptions } from '../serve/serve-options.ts'
import { serveStdio } from '../serve/stdio.ts'
import { resolveTape } from '../store/home.ts'
import type { ServerFilter } from '../tape/server-filter.ts'
import { httpCast } from './http-cast.ts'
import type { Links } from './links.ts'
import { connectionOf } from './nth-connection.ts'
import { PlayedEndpoint, type HttpRole } from './played-endpoint.ts'
import { PlayedProcess, type PlayedProcessOptions } from './played-process.ts'
import { ServerNames } from './server-names.ts'
import { TapeSet, wantedCommand, wantedUrl, type Part } from './tape-set.ts'

/** Plays every server that this process talks to from the tape: no process is started, no socket opened. */
export function replayLinks({ tape: name, isMeant }: { tape: string; isMeant: ServerFilter }): Links {
  if (!existsSync(resolveTape(name))) throw noTape(name)
  const tapes = new TapeSet(name)
  const names = new ServerNames()
  const starts = new Map<string, number>()
  return {
    onStart: ({ command, options }) => {
      const server = names.nameOf(command, serverName(command))
      if (!isMeant(server)) return undefined
      const conn = (starts.get(server) ?? 0) + 1
      starts.set(server, conn)
      const prepare: PlayedProcessOptions['prepare'] = async () => {
        const part = connectionOf(await tapes.partOf(wantedCommand(command)), conn)
        return async (streams) => report(part, await serveStdio({ ...serveOptions(part, name), ...streams }))
      }
      const hasStderr = Array.isArray(options.stdio) && options.stdio[2] !== 'inherit'
      return new PlayedProcess({ command, hasStderr, prepare }).asChild()
    },
    onFetch: ({ endpoint, fetch }) => {
      const server = names.nameOf(endpoint.href, nameOfUrl(endpoint))
      if (!isMeant(server)) return fetch
      let part: Part | undefined
      const played = new PlayedEndpoint(async () => {
        part = await tapes.partOf(wantedUrl(endpoint))
        return httpRole(part, name)
      })
      // A server over HTTP does not know when its last client has left.
      process.once('exit', () => played.drifts().forEach((drift) => part && report(part, drift)))
      return played.fetch
    },
  }
}

function serveOptions({ tape, server }: Part, name: string): ServeOptions {
  return { tape, name, server, onMiss: (miss) => say(missAsText(miss)) }
}

function httpRole(part: Part, name: string): HttpRole {
  const options = serveOptions(part, name)
  return {
    cast: httpCast(part),
    playing: (turns) =>
      playerOptions({ ...options, tape: { ...part.tape, turns } }, (loosening) =>
        serveCommandLine(name, part.server, loosening),
      ),
  }
}

function report({ tape, server }: Part, drift: Drift): void {
  if (hasDrifted(drift)) say(`reelay: ${server}: ${driftAsText(drift, screenFor(tape.header))}`)
}

function noTape(name: string): ReelayError {
  return new ReelayError('TAPE_NOT_FOUND', `there is no tape ${name}: ${resolveTape(name)} does not exist`, {
    hint: `record it first, with REELAY_RECORD=${name} in place of REELAY_REPLAY; reelay list shows what there is`,
  })
}

// The program's own stdout is not ours.
function say(text: string): void {
  process.stderr.write(`${text}\n`)
}
