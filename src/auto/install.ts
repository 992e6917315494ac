import { ReelayError } from '../errors.ts'
import { createReportRedactor } from '../serve/redaction/report-redactor.ts'
import { escapeControlChars } from '../text.ts'
import { hookFetch, hookSpawn } from './hooks.ts'
import { recordServers } from './record-servers.ts'
import { replayServers } from './replay-servers.ts'
import { readSwitches } from './switches.ts'

/** Reads the switches and, if one is set, records or replays the servers of the MCP SDKs from now on. */
export function install(env: NodeJS.ProcessEnv): void {
  try {
    const switches = readSwitches(env)
    if (switches.kind === 'off') return
    const hooks = switches.kind === 'record' ? recordServers(switches) : replayServers(switches)
    hookSpawn(hooks)
    hookFetch(hooks)
  } catch (error) {
    exitWithError(error)
  }
}

/** A program that cannot be recorded or replayed as requested must not run. */
function exitWithError(error: unknown): never {
  if (!(error instanceof ReelayError)) throw error
  const { text } = createReportRedactor()
  const hint = error.hint === undefined ? '' : `  hint: ${escapeControlChars(text(error.hint))}\n`
  process.stderr.write(`reelay: ${error.code} ${escapeControlChars(text(error.message))}\n${hint}`)
  process.exit(error.exitCode)
}
