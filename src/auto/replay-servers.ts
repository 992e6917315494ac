import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { ReelayError } from '../errors.ts'
import { missAsText } from '../match/miss/report.ts'
import { serverName, serverNameFromUrl } from '../record/tape-header.ts'
import { serveCommandLine } from '../serve/suggested-commands.ts'
import { formatDrift, hasDrifted, type Drift } from '../serve/drift.ts'
import { serveFetch } from '../serve/http/serve-fetch.ts'
import { createServedRecording } from '../serve/http/served-recording.ts'
import { reportRedactorFor } from '../serve/redaction/report-redactor.ts'
import type { ServeOptions } from '../serve/serve-options.ts'
import { serveStdio } from '../serve/serve-stdio.ts'
import { resolveTape } from '../store/home.ts'
import type { ServerFilter } from '../tape/server-filter.ts'
import type { ServerHooks } from './hooks.ts'
import {
  nthConnection,
  ServerNames,
  TapeSet,
  queryForCommand,
  queryForUrl,
  type ServerOnTape,
} from './server-lookup.ts'
import { RecordedProcess, type RecordedProcessOptions } from './recorded-process.ts'

/** Plays every server of this process from the tape. No process is started, and no socket is opened. */
export function replayServers({ tape: name, isMeant }: { tape: string; isMeant: ServerFilter }): ServerHooks {
  if (!existsSync(resolveTape(name))) throw tapeNotFound(name)
  const tapes = new TapeSet(name)
  const names = new ServerNames()
  const starts = new Map<string, number>()
  return {
    onStart: ({ command, options }) => {
      const server = names.nameOf(command, serverName(command))
      if (!isMeant(server)) return undefined
      const conn = (starts.get(server) ?? 0) + 1
      starts.set(server, conn)
      const prepare: RecordedProcessOptions['prepare'] = async () => {
        const part = nthConnection(await tapes.findServer(queryForCommand(command)), conn)
        return async (streams) =>
          reportDrift(part, await serveStdio({ ...serveOptions(part, name), ...streams }))
      }
      const hasStderr = Array.isArray(options.stdio) && options.stdio[2] !== 'inherit'
      return new RecordedProcess({ command, hasStderr, prepare }).asChild()
    },
    onFetch: ({ endpoint, fetch }) => {
      const server = names.nameOf(endpoint.href, serverNameFromUrl(endpoint))
      if (!isMeant(server)) return fetch
      return serveFetch(endpoint, async () => {
        const part = await tapes.findServer(queryForUrl(endpoint))
        const recording = createServedRecording({
          options: serveOptions(part, name),
          newId: randomUUID,
          commandFor: (loosening) => serveCommandLine(name, part.server, loosening),
        })
        // A server over HTTP does not know when its last client is gone.
        process.once('exit', () => reportDrift(part, recording.drift()))
        return recording
      })
    },
  }
}

function serveOptions({ tape, server }: ServerOnTape, name: string): ServeOptions & ServerOnTape {
  return { tape, name, server, onMiss: (miss) => printToStderr(missAsText(miss)) }
}

function reportDrift({ tape, server }: ServerOnTape, drift: Drift): void {
  if (hasDrifted(drift))
    printToStderr(`reelay: ${server}: ${formatDrift(drift, reportRedactorFor(tape.header))}`)
}

function tapeNotFound(name: string): ReelayError {
  return new ReelayError('TAPE_NOT_FOUND', `there is no tape ${name}: ${resolveTape(name)} does not exist`, {
    hint: `record it first, with REELAY_RECORD=${name} instead of REELAY_REPLAY; reelay list shows all tapes`,
  })
}

// Stdout belongs to the program.
function printToStderr(text: string): void {
  process.stderr.write(`${text}\n`)
}
