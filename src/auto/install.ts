import { ReelayError } from '../errors.ts'
import { createReportRedactor } from '../serve/redaction/report-redactor.ts'
import { escapeControlChars } from '../text.ts'
import { hookFetch, hookSpawn } from './hooks.ts'
import { recordServers } from './record-servers.ts'
import { replayServers } from './replay-servers.ts'
import { readSwitches } from './switches.ts'

/** Does what the switches ask: from now on, the servers of an MCP SDK are recorded, or played from a tape. */
export function install(env: NodeJS.ProcessEnv): void {
  try {
    const switches = readSwitches(env)
    if (switches.kind === 'off') return
    const { onStart, onFetch } =
      switches.kind === 'record' ? recordServers(switches) : replayServers(switches)
    hookSpawn(onStart)
    hookFetch(onFetch)
  } catch (error) {
    exitWithError(error)
  }
}

/** A program that was to be recorded or replayed does not run without that. */
function exitWithError(error: unknown): never {
  if (!(error instanceof ReelayError)) throw error
  const { text } = createReportRedactor()
  const hint = error.hint === undefined ? '' : `  hint: ${escapeControlChars(text(error.hint))}\n`
  process.stderr.write(`reelay: ${error.code} ${escapeControlChars(text(error.message))}\n${hint}`)
  process.exit(error.exitCode)
}
