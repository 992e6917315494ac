import { statSync } from 'node:fs'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorMessage, systemErrorCode, ReelayError } from '../../errors.ts'
import { isObject, member, parseJson } from '../../json/parse.ts'
import { decodeFrame } from '../../tape/codec.ts'
import type { EventFrame } from '../../tape/frame.ts'
import { pickLabels, type TapeLabels } from '../../tape/header.ts'
import { TAPE_EXTENSION, tapeFolder } from '../home.ts'
import { openTape } from './read.ts'
import { writeOwnFile } from './replace-file.ts'

/** A file in the tape folder: a tape, or a file with the ending of a tape that cannot be read as one. */
export type TapeSummary = ListedTape | ListedProblem

export interface ListedTape {
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

/**
 * Lists the tapes of a folder, newest first, then the files that are not tapes. Reads only the header and the end of each file. In the tape
 * folder, files that are the same as the last time are not opened.
 */
export async function listTapes(folder: string): Promise<readonly TapeSummary[]> {
  const index = folder === tapeFolder() ? await SummaryIndex.open(folder) : undefined
  const summaries: TapeSummary[] = []
  for (const file of await fileNamesIn(folder)) {
    if (!file.endsWith(TAPE_EXTENSION)) continue
    const stamp = index && stampOf(join(folder, file))
    const known = stamp === undefined ? undefined : index?.get(file, stamp)
    const summary = known ?? (await summaryOf(folder, file))
    summaries.push(summary)
    if (stamp !== undefined && summary.kind === 'tape') index?.add(file, stamp, summary)
  }
  await index?.save()
  return summaries.toSorted(newestFirst)
}

/** Changes whenever the content of a file changes. */
function stampOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (found === undefined) return undefined
  // A file that has just been written can change again without another time.
  if (Date.now() - Number(found.mtimeMs) < SETTLED_AFTER) return undefined
  return `${found.size} ${found.mtimeNs} ${found.ctimeNs} ${found.ino}`
}

const SETTLED_AFTER = 2_000

/** The summaries of a folder with many tapes, in a file beside them. Without the file, or if it is broken, the tapes are read. */
class SummaryIndex {
  readonly #path: string
  readonly #known: ReadonlyMap<string, StampedSummary>
  readonly #now = new Map<string, StampedSummary>()
  #isChanged = false

  private constructor(path: string, known: ReadonlyMap<string, StampedSummary>) {
    this.#path = path
    this.#known = known
  }

  static async open(folder: string): Promise<SummaryIndex> {
    const path = join(folder, INDEX_NAME)
    const text = await readFile(path, 'utf8').catch(() => '')
    const value = parseJson(text)
    const entries = member(value, 'by') === VERSION_OF_INDEX ? member(value, 'tapes') : undefined
    return new SummaryIndex(path, new Map(isObject(entries) ? Object.entries(entries).filter(isStamped) : []))
  }

  get(file: string, stamp: string): TapeSummary | undefined {
    const known = this.#known.get(file)
    if (known?.stamp !== stamp) return undefined
    const folder = dirname(this.#path)
    // The folder may have moved.
    return { ...known.summary, path: join(folder, file) }
  }

  add(file: string, stamp: string, summary: ListedTape): void {
    this.#now.set(file, { stamp, summary })
    this.#isChanged ||= this.#known.get(file)?.stamp !== stamp
  }

  /** Nothing depends on the file, so a folder that cannot be written to is no problem. */
  async save(): Promise<void> {
    if (this.#now.size < FEW_TAPES || (!this.#isChanged && this.#now.size === this.#known.size)) return
    const text = JSON.stringify({ by: VERSION_OF_INDEX, tapes: Object.fromEntries(this.#now) })
    await writeOwnFile(this.#path, [text]).catch(() => {})
  }
}

interface StampedSummary {
  readonly stamp: string
  readonly summary: ListedTape
}

function isStamped(entry: [string, unknown]): entry is [string, StampedSummary] {
  const summary = member(entry[1], 'summary')
  return (
    typeof member(entry[1], 'stamp') === 'string' &&
    member(summary, 'kind') === 'tape' &&
    Array.isArray(member(summary, 'servers')) &&
    isObject(member(summary, 'labels'))
  )
}

const INDEX_NAME = '.tapes.index.json'
const VERSION_OF_INDEX = 'reelay summaries 1'
const FEW_TAPES = 100

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
