import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorMessage, systemErrorCode, ReelayError } from '../../errors.ts'
import { decodeFrame } from '../../tape/codec.ts'
import type { EventFrame } from '../../tape/frame.ts'
import { pickLabels, type TapeLabels } from '../../tape/header.ts'
import { TAPE_EXTENSION } from '../home.ts'
import { openTape } from './read.ts'

/** A file in the tape folder: a tape, or a file with the ending of a tape that cannot be read as one. */
export type TapeSummary = ListedTape | ListedProblem

interface ListedTape {
  readonly kind: 'tape'
  readonly name: string
  readonly path: string
  readonly bytes: number
  readonly started: string
  readonly servers: readonly string[]
  readonly labels: TapeLabels
  readonly isRedacted: boolean
  readonly ended: boolean
}

export interface ListedProblem {
  readonly kind: 'problem'
  readonly name: string
  readonly path: string
  readonly bytes: number
  readonly problem: string
}

/** Lists the tapes of a folder, newest first, then the files that are not tapes. Reads only the header and the end of each file. */
export async function listTapes(folder: string): Promise<readonly TapeSummary[]> {
  const summaries: TapeSummary[] = []
  for (const file of await fileNamesIn(folder)) {
    if (file.endsWith(TAPE_EXTENSION)) summaries.push(await summaryOf(folder, file))
  }
  return summaries.toSorted(newestFirst)
}

async function fileNamesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).toSorted()
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return [] // nothing was recorded yet
    const why = errorMessage(error)
    throw new ReelayError('TAPE_UNREADABLE', `the tape folder ${folder} cannot be read: ${why}`, {
      hint: 'check the permissions of the folder, or set REELAY_HOME to another one',
      cause: error,
    })
  }
}

async function summaryOf(folder: string, file: string): Promise<TapeSummary> {
  const path = join(folder, file)
  const name = file.slice(0, -TAPE_EXTENSION.length)
  const bytes = await stat(path).then(
    ({ size }) => size,
    () => 0, // a broken link: opening it reports the error
  )
  try {
    const { header } = await openTape(path)
    const end = await readEndFrame(path, bytes)
    return {
      kind: 'tape',
      name,
      path,
      bytes,
      started: header.started,
      servers: [...new Set([...Object.keys(header.servers), ...joinedServersIn(end)])],
      labels: pickLabels(header),
      isRedacted: header.redaction !== undefined,
      ended: end !== undefined,
    }
  } catch (error) {
    return {
      kind: 'problem',
      name,
      path,
      bytes,
      problem: errorMessage(error),
    }
  }
}

const TAIL_BYTES = 4096

async function readEndFrame(path: string, bytes: number): Promise<EventFrame | undefined> {
  const file = await open(path, 'r')
  try {
    const tail = Buffer.alloc(Math.min(TAIL_BYTES, bytes))
    await file.read(tail, 0, tail.length, bytes - tail.length)
    return endFrameIn(tail.toString('utf8'))
  } finally {
    await file.close()
  }
}

function endFrameIn(tail: string): EventFrame | undefined {
  const lines = tail.split('\n')
  const frame = lines.pop() === '' ? decodeFrame(lines.pop() ?? '') : undefined
  return frame?.kind === 'event' && frame.event === 'end' ? frame : undefined
}

/** The end frame names servers that joined after the header was written. */
function joinedServersIn(end: EventFrame | undefined): readonly string[] {
  const servers = end?.details['servers']
  return Array.isArray(servers) ? servers.filter((name) => typeof name === 'string') : []
}

function newestFirst(a: TapeSummary, b: TapeSummary): number {
  return startTimeOf(b) - startTimeOf(a)
}

function startTimeOf(summary: TapeSummary): number {
  return summary.kind === 'tape' ? Date.parse(summary.started) : Number.MIN_SAFE_INTEGER
}
