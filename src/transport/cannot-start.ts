import { ReelayError } from '../errors.ts'
import type { ServerProcess } from '../link/process/start.ts'

/** Why a server command did not start, in words that help. */
export async function serverStartError(server: ServerProcess): Promise<ReelayError> {
  const [file] = server.command
  const cause = await server.exited.then(
    () => undefined,
    (error: unknown) => error as NodeJS.ErrnoException,
  )
  if (cause?.code === 'ENOENT') {
    const hint = 'check the spelling and the PATH; relative paths start at the folder you are in'
    return new ReelayError('COMMAND_NOT_FOUND', `the server command ${file} was not found`, { hint, cause })
  }
  const message = `the server command ${file} could not be started: ${cause?.message}`
  return new ReelayError('COMMAND_NOT_RUNNABLE', message, {
    hint: 'try to run it by hand in the same folder',
    cause,
  })
}
