import { existsSync } from 'node:fs'
import { ReelayError } from '../errors.ts'
import { missAsText } from '../match/miss-text.ts'
import { serverName } from '../record/header.ts'
import { nameOfUrl } from '../record/http-recorder.ts'
import { driftAsText, hasDrifted } from '../serve/drift.ts'
import { serveStdio, type ServeStdioOptions } from '../serve/stdio.ts'
import { resolveTape } from '../store/home.ts'
import type { Tape } from '../store/read.ts'
import type { ServerFilter } from '../tape/server-filter.ts'
import type { Turn } from '../tape/turn.ts'
import type { Links } from './links.ts'
import { PlayedProcess, type PlayedProcessOptions } from './played-process.ts'
import { ServerNames } from './server-names.ts'
import { TapeSet, type Part } from './tape-set.ts'

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
        const part = connectionOf(await tapes.partOf(command), conn)
        return (streams) => play(part, name, streams)
      }
      const hasStderr = Array.isArray(options.stdio) && options.stdio[2] !== 'inherit'
      return new PlayedProcess({ command, hasStderr, prepare }).asChild()
    },
    onFetch: ({ endpoint, fetch }) => {
      const server = names.nameOf(endpoint.href, nameOfUrl(endpoint))
      return isMeant(server) ? () => Promise.reject(notOverHttp(server)) : fetch
    },
  }
}

type Streams = Pick<ServeStdioOptions, 'input' | 'output' | 'signal'>

async function play({ tape, server }: Part, name: string, streams: Streams): Promise<void> {
  const onMiss: ServeStdioOptions['onMiss'] = (miss) => say(missAsText(miss))
  const drift = await serveStdio({ tape, name, server, ...streams, onMiss })
  if (hasDrifted(drift)) say(`reelay: ${server}: ${driftAsText(drift)}`)
}

/** The part of the tape that was recorded when the server was started for the nth time. */
function connectionOf({ tape, server }: Part, conn: number): Part {
  const ofServer = tape.turns.filter((turn) => placeOf(turn)?.server === server)
  const recorded = Math.max(0, ...ofServer.map((turn) => placeOf(turn)?.conn ?? 0))
  if (conn > Math.max(recorded, 1)) throw startedTooOften(tape, server, recorded)
  return { tape: { ...tape, turns: ofServer.filter((turn) => placeOf(turn)?.conn === conn) }, server }
}

function placeOf({ trigger, steps: [first] }: Turn): Turn['trigger'] {
  return trigger ?? (first?.kind === 'ask' ? first.request : first?.message)
}

function startedTooOften({ path }: Tape, server: string, recorded: number): ReelayError {
  const message = `the server ${server} was started ${recorded === 1 ? 'once' : `${recorded} times`} on ${path}, and now once more`
  return new ReelayError('REPLAY_DRIFT', message, { hint: 'record the run again, as it is now' })
}

function notOverHttp(server: string): ReelayError {
  return new ReelayError(
    'USAGE',
    `the server ${server} is reached over HTTP, which is not replayed by a switch`,
    {
      hint: `name the others with REELAY_REPLAY_SERVER to leave ${server} live`,
    },
  )
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
