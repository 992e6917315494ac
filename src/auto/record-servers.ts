import { stdioServer } from '../record/tape-header.ts'
import { serverName } from '../record/server-name.ts'
import { labelsFromEnv } from '../record/labels.ts'
import { serverNameFromUrl } from '../record/http/url-recorder.ts'
import { recordFetch } from '../record/in-process/record-fetch.ts'
import { Recording } from '../record/recording.ts'
import type { ServerFilter } from '../tape/server-filter.ts'
import type { ServerHooks } from './hooks.ts'
import { ServerNames } from './server-names.ts'
import { SWITCH_VARIABLES } from './switches.ts'
import { recordChild } from './tap-child.ts'

interface RecordSwitches {
  readonly tape: string
  readonly isMeant: ServerFilter
  readonly vault: string | undefined
}

/** Records every server that this process talks to into one tape of its own. */
export function recordServers({ tape, isMeant, vault }: RecordSwitches): ServerHooks {
  const redact = vault === undefined ? {} : { vault }
  const recording = new Recording({ tape, redact, ...labelsFromEnv(process.env) })
  const names = new ServerNames()
  process.once('exit', () => closeRecording(recording))
  return {
    onStart: ({ command, options, run }) => {
      const server = names.nameOf(command, serverName(command))
      if (!isMeant(server)) return undefined
      const env = withoutSwitches(options.env)
      const child = run(env)
      recordChild(child, recording.pipes({ server, info: stdioServer(command, env ?? process.env), env }))
      return child
    },
    onFetch: ({ endpoint, fetch }) => {
      const server = names.nameOf(endpoint.href, serverNameFromUrl(endpoint))
      return isMeant(server) ? recordFetch(fetch, { recording, server, url: endpoint }) : fetch
    },
  }
}

/** A server that is a client of other servers is one link of this program; what is behind it is its own affair. */
function withoutSwitches(env: NodeJS.ProcessEnv | undefined): NodeJS.ProcessEnv | undefined {
  if (env === undefined) return undefined
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !SWITCH_VARIABLES.some((each) => each === name)),
  )
}

/** The process is about to be gone: only what happens now still happens. */
function closeRecording(recording: Recording): void {
  void recording.close()
  const { path, failure } = recording
  if (failure !== undefined) say(`TAPE_UNWRITABLE ${path ?? 'nothing was recorded'}: ${failure}`)
  else if (path !== undefined) say(`recorded to ${path}`)
}

function say(text: string): void {
  process.stderr.write(`reelay: ${text}\n`)
}
