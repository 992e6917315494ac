import { basename, dirname } from 'node:path'
import { resolveTape, TAPE_EXTENSION } from '../store/home.ts'
import { listTapes } from '../store/file/list.ts'

export interface NewestTape {
  readonly path: string
  readonly recordedAt: string
}

/** The newest recording under a tape's name: recorders that find it taken put `-2`, `-3`, … behind it. */
export async function findNewestTape(tape: string, env: NodeJS.ProcessEnv): Promise<NewestTape | undefined> {
  const path = resolveTape(tape, env)
  const name = basename(path, TAPE_EXTENSION)
  for (const listed of await listTapes(dirname(path)))
    if (listed.kind === 'tape' && isRecordingOf(listed.name, name))
      return { path: listed.path, recordedAt: listed.started }
  return undefined
}

function isRecordingOf(tape: string, name: string): boolean {
  return tape.startsWith(name) && /^(-\d+)*$/.test(tape.slice(name.length))
}
