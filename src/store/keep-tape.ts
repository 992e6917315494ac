import { rename, rm } from 'node:fs/promises'
import { openTape } from './file/read.ts'

/**
 * Puts a tape that was just recorded in its place, and says so; a server that said nothing leaves nothing to play, so then what
 * was there stays, and the new tape goes.
 */
export async function replaceTapeIfAnswered(fresh: string, path: string): Promise<boolean> {
  const isKept = await hasServerMessage(fresh)
  if (!isKept) await rm(fresh, { force: true })
  else if (fresh !== path) await rename(fresh, path)
  return isKept
}

async function hasServerMessage(path: string): Promise<boolean> {
  for await (const frame of (await openTape(path)).frames())
    if (frame.kind === 'message' && frame.dir === 's2c') return true
  return false
}
