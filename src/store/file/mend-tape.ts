import { closeSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { isAscii } from 'node:buffer'
import { JsonValidator } from '../../json/validator.ts'
import { openTape } from './read.ts'
import { rawPayload } from './write.ts'

/** The range of a message in a tape file, in bytes. */
export interface PayloadRange {
  readonly start: number
  readonly end: number
}

const SLICE_BYTES = 256 * 1024
const KEY_BYTES = '"msg":'.length

/**
 * Validates long messages that were recorded without a full check. A message that is not JSON becomes a raw frame with the same
 * text, so that any JSON parser can read every line of a complete tape.
 */
export function revalidateMessages(path: string, payloads: readonly PayloadRange[]): void {
  if (payloads.length === 0) return
  const fd = openSync(path, 'r')
  try {
    const broken = payloads.filter((payload) => !isValidJson(fd, payload))
    if (broken.length > 0) rewriteAsRaw(path, fd, broken)
  } finally {
    closeSync(fd)
  }
}

/**
 * Puts the header back into a tape that another program has truncated, so that it can still be opened. Returns the number of frames
 * that are left.
 */
export async function restoreTruncatedTape(path: string, header: string): Promise<number> {
  const fd = openSync(path, 'r')
  try {
    const wanted = Buffer.from(`${header}\n`)
    if (!readRange(fd, 0, wanted.length).equals(wanted)) replaceHeader(path, fd, wanted)
  } finally {
    closeSync(fd)
  }
  let frames = 0
  for await (const batch of (await openTape(path)).batches()) frames += batch.length
  return frames
}

/** What is left of the old header is removed. */
function replaceHeader(path: string, from: number, header: Uint8Array): void {
  rewrite(path, (to) => {
    writeSync(to, header)
    copy(from, to, firstFrame(from), Infinity)
  })
}

const FRAME_START = Buffer.from('{"n":')

/** The offset of the first frame, which may follow half of a header on the same line. */
function firstFrame(fd: number): number {
  const at = readRange(fd, 0, SLICE_BYTES).indexOf(FRAME_START)
  return at < 0 ? Infinity : at
}

function isValidJson(fd: number, { start, end }: PayloadRange): boolean {
  const check = new JsonValidator()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for (const slice of slices(fd, start, end)) {
      check.feed(slice, 0, slice.length)
      if (!isAscii(slice)) decoder.decode(slice, { stream: true })
    }
    decoder.decode()
  } catch {
    return false // not UTF-8
  }
  return check.isComplete()
}

function rewriteAsRaw(path: string, from: number, broken: readonly PayloadRange[]): void {
  rewrite(path, (to) => {
    let at = 0
    for (const { start, end } of broken) {
      copy(from, to, at, start - KEY_BYTES)
      writeSync(to, rawPayload(readRange(from, start, end)) ?? '')
      at = end
    }
    copy(from, to, at, Infinity)
  })
}

function rewrite(path: string, write: (to: number) => void): void {
  const mended = `${path}.mended`
  const to = openSync(mended, 'wx', 0o600)
  try {
    write(to)
    renameSync(mended, path)
  } catch (error) {
    rmSync(mended, { force: true })
    throw error
  } finally {
    closeSync(to)
  }
}

function readRange(fd: number, start: number, end: number): Buffer {
  return Buffer.concat([...slices(fd, start, end)].map((slice) => Buffer.from(slice)))
}

function copy(from: number, to: number, start: number, end: number): void {
  for (const slice of slices(from, start, end)) {
    for (let at = 0; at < slice.length;) at += writeSync(to, slice, at)
  }
}

/** Yields the same buffer each time: a slice is valid until the next one. */
function* slices(fd: number, start: number, end: number): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(Math.min(SLICE_BYTES, end - start))
  for (let at = start; at < end;) {
    const read = readSync(fd, buffer, 0, Math.min(buffer.length, end - at), at)
    if (read === 0) return
    yield buffer.subarray(0, read)
    at += read
  }
}
