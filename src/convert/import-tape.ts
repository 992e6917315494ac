import { rmSync } from 'node:fs'
import { errorMessage, ReelayError } from '../errors.ts'
import { parseJson } from '../json/parse.ts'
import { classifyMessage, type Direction } from '../protocol/message.ts'
import { openRedaction, type RedactOption } from '../record/redaction.ts'
import { tapeHeader } from '../record/tape-header.ts'
import { writeRedactedTape } from '../share/redact-tape.ts'
import type { Tape, TapeReader } from '../store/file/read.ts'
import { createTape, type TapeWriter } from '../store/file/write.ts'
import { resolveTape } from '../store/home.ts'
import type { VaultSummary } from '../store/vault.ts'
import { encodeFrame } from '../tape/codec.ts'
import { roundTime, type Frame } from '../tape/frame.ts'
import { encodeHeader, pickLabels, type TapeHeader, type TapeServer } from '../tape/header.ts'
import { TurnBuilder } from '../tape/turn-builder.ts'
import type { ImportedFrame, ImportedRecording } from './import/import-format.ts'
import { ImportSource, timeOf } from './import/import-source.ts'
import { readImportedRecording } from './import/index.ts'

/** A message for `importTape`, from a program that has its own recording. */
export interface ImportRecord {
  /** `c2s` from the client to the server, `s2c` back. */
  readonly dir: Direction
  /** A JSON-RPC message, as JSON text or as a value. */
  readonly message: unknown
  /** Milliseconds since 1970, or an ISO 8601 text. */
  readonly time?: number | string
  readonly server?: string
  /** The number of the connection to the server, counted from 1. */
  readonly conn?: number
}

export interface ImportTapeOptions {
  /** The name of the format, for bytes. By default it is recognised by content. */
  readonly format?: string
  /** The name of the server, if the recording has only one. */
  readonly server?: string
  /** A tape name or the path of a tape file to write. By default nothing is written. */
  readonly tape?: string
  /** How secrets are treated in the written tape; by default they are replaced by placeholders. */
  readonly redact?: RedactOption
  /** Further files of the recording, by their names. */
  readonly companions?: ReadonlyMap<string, string>
}

/** A tape in memory, as `loadTape` returns it, and where it came from. */
export interface ImportedTape extends Tape {
  readonly format: string
  /** What was skipped, and what had to be inferred. */
  readonly notes: readonly string[]
}

/**
 * Reads the recording of another tool, as bytes or as records. The result can be served and inspected like a tape.
 *
 * @example
 * const tape = await importTape(await readFile('session.vcr'))
 * await serveStdio(tape)
 */
export async function importTape(
  recording: Uint8Array | string | Iterable<ImportRecord>,
  options: ImportTapeOptions = {},
): Promise<ImportedTape> {
  const read = await readRecording(recording, options)
  const { header, frames } = assemble(read, { server: options.server, now: new Date() })
  const path =
    options.tape === undefined ? '' : (await writeTape(header, frames, options.tape, options.redact)).path
  return { ...tapeInMemory(path, header, frames), format: read.format, notes: read.notes ?? [] }
}

async function readRecording(
  recording: Uint8Array | string | Iterable<ImportRecord>,
  { format, companions }: ImportTapeOptions,
): Promise<ImportedRecording & { readonly format: string }> {
  if (typeof recording !== 'string' && !(recording instanceof Uint8Array))
    return { format: 'records', frames: [...recording].map(frameOfRecord) }
  const bytes = typeof recording === 'string' ? new TextEncoder().encode(recording) : recording
  return readForeignFile(bytes, { format, companions })
}

function frameOfRecord({ dir, message, time, server, conn }: ImportRecord): ImportedFrame {
  const text = typeof message === 'string' ? message : JSON.stringify(message)
  return { kind: 'message', dir, text, at: timeOf(time), server, conn }
}

/** Reads the file of another tool. Problems of any kind become an error that says what is wrong with the file. */
export async function readForeignFile(
  bytes: Uint8Array,
  {
    format,
    companions,
  }: { readonly format?: string | undefined; readonly companions?: ReadonlyMap<string, string> | undefined },
): Promise<ImportedRecording & { readonly format: string }> {
  const isYaml = looksLikeYaml(bytes)
  const isTooLarge = isYaml && bytes.length > MAX_YAML
  const yaml = isYaml && !isTooLarge ? await import('yaml') : undefined
  const source = new ImportSource(bytes, {
    // Aliases are limited, because a few lines of them can stand for gigabytes.
    ...(yaml && {
      parseYaml: (text: string) => yaml.parse(text, { maxAliasCount: 100, logLevel: 'error' }) as unknown,
    }),
    ...(companions !== undefined && { companions }),
  })
  try {
    return readImportedRecording(source, format)
  } catch (error) {
    if (isTooLarge) throw tooLargeYaml(bytes.length, error)
    if (error instanceof ReelayError) throw error
    const hint = 'the file seems to be damaged; check it with the tool that wrote it'
    throw new ReelayError('IMPORT_FAILED', `the file cannot be read: ${errorMessage(error)}`, {
      hint,
      cause: error,
    })
  }
}

function looksLikeYaml(bytes: Uint8Array): boolean {
  return YAML_START.test(Buffer.from(bytes.subarray(0, YAML_HEAD)).toString('utf8'))
}

function tooLargeYaml(size: number, cause: unknown): ReelayError {
  const megabytes = (size / 1024 / 1024).toFixed(1)
  return new ReelayError(
    'IMPORT_FAILED',
    `the file looks like YAML and has ${megabytes} MB; YAML up to 8 MB is read`,
    {
      hint: 'write the recording as JSON; `reelay export --format jsonl` does that with a tape',
      cause,
    },
  )
}

/** Reading YAML takes seconds and more than 100 MB of memory for each megabyte. */
const MAX_YAML = 8 * 1024 * 1024
const YAML_HEAD = 64 * 1024
/** A key at the beginning of a line, after comments. Most other texts are not worth a YAML parser. */
const YAML_START = /^(?:\uFEFF|---.*\n|\s*#.*\n|\s*\n)*[A-Za-z_"'][\w "'-]*:(?:\s|$)/

interface AssembleOptions {
  readonly server?: string | undefined
  readonly now: Date
}

/** Makes a tape of a recording: numbers its frames, and makes their times relative to its beginning. */
export function assemble(
  { frames, servers = {}, labels, started, format }: ImportedRecording & { readonly format: string },
  { server: wanted, now }: AssembleOptions,
): { readonly header: TapeHeader; readonly frames: readonly Frame[] } {
  const names = new Set(Object.keys(servers))
  for (const { server } of frames) if (server !== undefined) names.add(server)
  const rename = renaming(names, wanted)
  const start = Math.floor(
    started ?? frames.find(({ at }) => at !== undefined && at > 0)?.at ?? now.getTime(),
  )
  let t = 0
  const numbered = frames.map((frame, index): Frame => {
    t = Math.max(t, roundTime((frame.at ?? start + t) - start))
    return completeFrame(frame, { n: index + 1, t, server: rename(frame.server) })
  })
  const infos = [...(names.size === 0 ? [''] : names)].map((name): [string, TapeServer] => [
    rename(name === '' ? undefined : name),
    servers[name] ?? { transport: 'import' },
  ])
  const hasEnd = frames.some((frame) => frame.kind === 'event' && frame.event === 'end')
  const n = numbered.length + 1
  const end: Frame = { kind: 'event', n, t, event: 'end', details: { frames: n } }
  return {
    header: tapeHeader(
      new Date(start),
      Object.fromEntries(infos),
      pickLabels({
        ...labels,
        tags: { ...labels?.tags, ...(!OWN_FORMATS.includes(format) && { imported: format }) },
      }),
    ),
    frames: hasEnd ? numbered : [...numbered, end],
  }
}

/** A name that the user gives replaces that of the only server. */
function renaming(
  names: ReadonlySet<string>,
  wanted: string | undefined,
): (name: string | undefined) => string {
  const [first = DEFAULT_SERVER] = names
  const isPlain = names.size <= 1
  if (wanted !== undefined && !isPlain)
    throw new ReelayError('USAGE', `the recording has ${names.size} servers, so --server cannot name them`, {
      hint: `they are ${[...names].join(', ')}`,
    })
  if (wanted !== undefined) return () => wanted
  const only = first === 'server' ? DEFAULT_SERVER : first
  return (name) => (isPlain ? only : (name ?? first))
}

const DEFAULT_SERVER = 'imported'
/** Formats that are written by `reelay export` and hold the whole tape. */
const OWN_FORMATS = ['yaml']

function completeFrame(
  frame: ImportedFrame,
  { n, t, server }: { readonly n: number; readonly t: number; readonly server: string },
): Frame {
  const { at: _, conn = 1, x, ...rest } = frame
  const place = { n, t, server, conn, ...(x !== undefined && { x }) }
  switch (rest.kind) {
    case 'message':
      return { ...rest, ...place, message: classifyMessage(parseJson(rest.text)) }
    case 'event':
      return rest.server === undefined && (rest.event === 'end' || rest.event === 'server')
        ? { kind: 'event', n, t, event: rest.event, details: eventDetails(rest, n) }
        : { ...place, kind: 'event', event: rest.event, details: rest.details ?? {} }
    case 'stderr':
      return { ...rest, ...place, dir: 's2c' }
    case 'http':
    case 'raw':
      return { ...rest, ...place }
  }
}

/** The end of a tape counts its frames, which may have been edited. */
function eventDetails(
  { event, details = {} }: Extract<ImportedFrame, { readonly kind: 'event' }>,
  n: number,
): Readonly<Record<string, unknown>> {
  return event === 'end' ? { ...details, frames: n } : details
}

/** A tape in memory, with its turns. */
function tapeInMemory(path: string, header: TapeHeader, frames: readonly Frame[]): Tape {
  const builder = new TurnBuilder()
  for (const frame of frames) builder.add(frame)
  return {
    path,
    header,
    turns: builder.turns(),
    strays: builder.strays(),
    rest: frames.filter((frame) => frame.kind !== 'message'),
    frames: frames.length,
    ended: true,
    problems: [],
  }
}

/** A written tape, and what was replaced in it. */
export interface WrittenTape {
  readonly path: string
  readonly secrets: number
  readonly vault: VaultSummary | undefined
}

/** Writes a tape from memory. Secrets are learned from all frames before the first one is written. */
export async function writeTape(
  header: TapeHeader,
  frames: readonly Frame[],
  tape: string,
  redact: RedactOption | undefined,
): Promise<WrittenTape> {
  const path = resolveTape(tape)
  const { redactor, vault } = openRedaction(redact, { tape: path })
  const writer = openWriter(path)
  try {
    const write = (line: string): void => writer.line(line)
    if (redactor === undefined)
      for (const line of [encodeHeader(header), ...frames.map(encodeFrame)]) write(line)
    else await writeRedactedTape({ reader: readerOf(path, header, frames), redactor, project: {} }, write)
    writer.close()
  } catch (error) {
    writer.close()
    rmSync(writer.path, { force: true })
    throw error
  }
  if (writer.loss !== undefined) {
    rmSync(writer.path, { force: true })
    throw unwritable(path, writer.loss.why)
  }
  if (redactor !== undefined) vault?.save(redactor.replacedValues)
  return { path: writer.path, secrets: redactor?.replacedCount ?? 0, vault: vault?.close() }
}

function openWriter(path: string): TapeWriter {
  try {
    return createTape(path)
  } catch (error) {
    throw unwritable(path, errorMessage(error))
  }
}

function unwritable(path: string, why: string): ReelayError {
  return new ReelayError('TAPE_UNWRITABLE', `the tape ${path} could not be written: ${why}`, {
    hint: 'check the folder, or name another tape with -o',
  })
}

/** Reads a tape that is in memory. */
export function readerOf(path: string, header: TapeHeader, frames: readonly Frame[]): TapeReader {
  return {
    path,
    header,
    version: header.reelay,
    state: { ended: true, problems: [] },
    frames: async function* () {
      yield* frames
    },
    batches: async function* () {
      yield frames
    },
  }
}
