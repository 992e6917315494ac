import { join } from 'node:path'
import { resolveTape, tapeFolder, TAPE_ENDING } from '../store/home.ts'

/**
 * The tape of a wrapped server, as the recorder is told. A client passes on few variables, so a tape folder that
 * `REELAY_HOME` names is written out.
 */
export function tapeFor(server: string, env: NodeJS.ProcessEnv): string {
  const name = nameFor(server, env)
  return env['REELAY_HOME'] ? join(tapeFolder(env), `${name}${TAPE_ENDING}`) : name
}

function nameFor(server: string, env: NodeJS.ProcessEnv): string {
  const name = server
    .replaceAll(/[^A-Za-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60)
  return isAllowed(name, env) ? name : `server-${name}`.replace(/-$/, '')
}

/** Some names are taken, such as those of devices on Windows. */
function isAllowed(name: string, env: NodeJS.ProcessEnv): boolean {
  try {
    resolveTape(name, env)
    return true
  } catch {
    return false // the caller finds another one
  }
}
