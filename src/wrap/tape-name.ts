import { join } from 'node:path'
import { tapeFolder, TAPE_EXTENSION } from '../store/home.ts'

/**
 * The tape of a server that a client starts, as the recorder is told. A client passes on few variables, so a tape folder
 * that `REELAY_HOME` names is written out.
 */
export function tapeNameFor(server: string, client: string, env: NodeJS.ProcessEnv): string {
  const name = `${tapeNamePart(server)}-${client}`
  return env['REELAY_HOME'] ? join(tapeFolder(env), `${name}${TAPE_EXTENSION}`) : name
}

function tapeNamePart(server: string): string {
  const part = server.replaceAll(/[^A-Za-z0-9_-]+/g, '-').replaceAll(/^-+|-+$/g, '')
  return part.slice(0, 60) || 'server'
}
