import { open, stat, type FileHandle } from 'node:fs/promises'
import { ReelayError } from '../errors.ts'
import { decodeUtf8 } from '../protocol/lines.ts'

const CHUNK_BYTES = 256 * 1024
const MAX_HEADER_BYTES = 1024 * 1024
const LINE_FEED = 10

/** Line 1 of a tape file, and whether its line feed is there too. */
export interface FirstLine {
  readonly text: string
  readonly complete: boolean
}

/** Reads line 1 of a file; refuses whatever can be no tape, with the reason. */
export async function readFirstLine(path: string): Promise<FirstLine> {
  await assertReadableFile(path)
  let head = Buffer.alloc(0)
  for await (const chunk of fileChunks(path)) {
    head = Buffer.concat([head, chunk])
    if (head.includes(LINE_FEED) || head.length > MAX_HEADER_BYTES) break
  }
  return decodeFirstLine(path, head)
}

/** The bytes of a file from its beginning to where it ends now; every chunk is a buffer of its own. */
export async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  const file = await openForReading(path)
  try {
    for (;;) {
      const chunk = await nextChunk(path, file)
      if (chunk.length === 0) return
      yield chunk
    }
  } finally {
    await file.close()
  }
}

// Looked at before it is opened: to open a pipe would wait for its writer, to open a device may do anything.
async function assertReadableFile(path: string): Promise<void> {
  const found = await stat(path).catch((error: unknown) => {
    throw unreadableTape(path, error)
  })
  if (found.isDirectory()) {
    throw new ReelayError('TAPE_IS_A_FOLDER', `${path} is a folder, not a tape`, {
      hint: 'name a file in it; `reelay list` shows the tapes of the tape folder',
    })
  }
  if (!found.isFile()) {
    throw new ReelayError('TAPE_UNREADABLE', `${path} is a pipe, a socket or a device, not a file`, {
      hint: 'copy the tape into a file first',
    })
  }
  if (found.size === 0) throw new ReelayError('TAPE_EMPTY', `${path} is empty`, { hint: EMPTY_HINT })
}

const EMPTY_HINT =
  'a recorder that is killed as it starts can leave an empty file; otherwise it was emptied later or made by something else'

function unreadableTape(path: string, error: unknown): ReelayError {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new ReelayError('TAPE_NOT_FOUND', `there is no tape at ${path}`, {
      hint: '`reelay list` shows the tapes that have a name; any other tape is given by its path',
      cause: error,
    })
  }
  const why = error instanceof Error ? error.message : String(error)
  return new ReelayError('TAPE_UNREADABLE', `${path} cannot be read: ${why}`, {
    hint: 'check who may read the file and the folders above it',
    cause: error,
  })
}

async function openForReading(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r')
  } catch (error) {
    throw unreadableTape(path, error)
  }
}

async function nextChunk(path: string, file: FileHandle): Promise<Uint8Array> {
  const chunk = new Uint8Array(CHUNK_BYTES)
  try {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES)
    return chunk.subarray(0, bytesRead)
  } catch (error) {
    throw unreadableTape(path, error)
  }
}

function decodeFirstLine(path: string, head: Uint8Array): FirstLine {
  const end = head.indexOf(LINE_FEED)
  const text = decodeUtf8(end < 0 ? head : head.subarray(0, end))
  if (text !== undefined && (end >= 0 || head.length <= MAX_HEADER_BYTES)) {
    return { text: text.replace(/^\uFEFF/, ''), complete: end >= 0 }
  }
  const why = text === undefined ? 'it is not UTF-8 text' : 'its first line does not end'
  throw new ReelayError('TAPE_NOT_OURS', `${path}: no Reelay tape: ${why}`, {
    hint: 'a tape is made with `reelay record`, and its first line begins with {"reelay":',
  })
}
