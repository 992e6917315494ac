import { randomUUID } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ReelayError } from '../../errors.ts'
import { replaceValue } from '../../json/splice.ts'
import { type Line, lineBytes, LineSplitter, HARD_MAX_LINE_BYTES } from '../../protocol/lines.ts'
import { fileChunks, openTape } from './read.ts'

const ENVELOPE_BYTES = 64 * 1024

/**
 * Writes a tape anew with other messages in some of its frames, every other byte as it was. The file is replaced in one
 * step: whoever reads it meanwhile sees the old one, and a failure leaves it alone.
 */
export async function rewriteMessages(path: string, messages: ReadonlyMap<number, string>): Promise<number> {
  const draft = join(dirname(path), `.${randomUUID()}.tape.tmp`)
  try {
    const changed = await writeDraft(path, draft, messages)
    await rename(draft, path)
    return changed
  } catch (error) {
    await rm(draft, { force: true })
    if (error instanceof ReelayError) throw error
    const why = error instanceof Error ? error.message : String(error)
    const hint = 'check the folder and the room on the disk; the tape is as it was'
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
  const splitter = new LineSplitter({ maxBytes: HARD_MAX_LINE_BYTES + ENVELOPE_BYTES })
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
