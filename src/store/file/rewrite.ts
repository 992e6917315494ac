import { open, rename, rm, stat } from 'node:fs/promises'
import { ReelayError } from '../../errors.ts'
import { replaceValue } from '../../json/find-replace.ts'
import { type Line, lineBytes, LineSplitter } from '../../protocol/lines.ts'
import { fileChunks, LONGEST_FRAME_BYTES, openTape } from './read.ts'
import { replaceFile } from './replace-file.ts'

/** Replaces the messages of some frames. All other bytes stay as they are. Returns the number of changed frames. */
export async function rewriteMessages(path: string, messages: ReadonlyMap<number, string>): Promise<number> {
  try {
    return await replaceFile(path, (draft) => writeDraft(path, draft, messages))
  } catch (error) {
    if (error instanceof ReelayError) throw error
    const why = error instanceof Error ? error.message : String(error)
    const hint = 'check the folder and the free space on the disk; the tape is unchanged'
    throw new ReelayError('TAPE_UNWRITABLE', `${path} cannot be rewritten: ${why}`, { hint, cause: error })
  }
}

async function writeDraft(
  path: string,
  draft: string,
  messages: ReadonlyMap<number, string>,
): Promise<number> {
  const { mode } = await stat(path)
  const file = await open(draft, 'wx', mode & 0o777)
  let changed = 0
  const splitter = new LineSplitter({ maxBytes: LONGEST_FRAME_BYTES })
  const write = async (line: Line): Promise<void> => {
    if (line.isOverlong) return
    const bytes = lineBytes(line)
    const replaced = rewriteLine(bytes, messages)
    if (replaced !== undefined) changed++
    await file.write(replaced ?? bytes)
    await file.write(NEWLINE)
  }
  try {
    for await (const chunk of fileChunks(path)) for (const line of splitter.split(chunk)) await write(line)
    for (const line of splitter.end()) await write(line)
    await file.sync()
  } finally {
    await file.close()
  }
  return changed
}

const NEWLINE: Uint8Array = Uint8Array.of(10)
const FRAME_START = /^\{"n":(\d+),/

function rewriteLine(line: Uint8Array, messages: ReadonlyMap<number, string>): Uint8Array | undefined {
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.length)
  const number = FRAME_START.exec(bytes.toString('latin1', 0, 64))?.[1]
  const message = messages.get(Number(number ?? -1))
  return message === undefined
    ? undefined
    : Buffer.from(replaceValue(bytes.toString('utf8'), ['msg'], message))
}

/**
 * Moves a new recording to its place and returns true. If the server sent no message, there is nothing to play: the new recording
 * is deleted, and an older tape stays.
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
