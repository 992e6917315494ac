import { ReelayError } from '../errors.ts'
import { createScreen } from '../serve/screen.ts'
import { visible } from '../wire/visible.ts'
import { hookFetch } from './fetch-hook.ts'
import { recordLinks } from './record-links.ts'
import { replayLinks } from './replay-links.ts'
import { hookSpawn } from './spawn-hook.ts'
import { readSwitches } from './switches.ts'

/** Does what the switches ask: from now on, the servers of an MCP SDK are recorded, or played from a tape. */
export function install(env: NodeJS.ProcessEnv): void {
  try {
    const switches = readSwitches(env)
    if (switches.kind === 'off') return
    const { onStart, onFetch } = switches.kind === 'record' ? recordLinks(switches) : replayLinks(switches)
    hookSpawn(onStart)
    hookFetch(onFetch)
  } catch (error) {
    refuse(error)
  }
}

/** A program that was to be recorded or replayed does not run without that. */
function refuse(error: unknown): never {
  if (!(error instanceof ReelayError)) throw error
  const { text } = createScreen()
  const hint = error.hint === undefined ? '' : `  hint: ${visible(text(error.hint))}\n`
  process.stderr.write(`reelay: ${error.code} ${visible(text(error.message))}\n${hint}`)
  process.exit(error.exitCode)
}
