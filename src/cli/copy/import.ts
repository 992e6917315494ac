import { existsSync } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { findProjectConfig } from '../../config/project-config.ts'
import { assemble, readForeignFile, writeTape } from '../../convert/import-tape.ts'
import { IMPORT_FORMATS } from '../../convert/import/index.ts'
import { errorMessage, ReelayError } from '../../errors.ts'
import type { RedactOption } from '../../record/redaction.ts'
import { requireNewFile } from '../../store/file/write.ts'
import { resolveTape } from '../../store/home.ts'
import { escapeControlChars } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { announceConfig } from '../options/config-options.ts'
import { option, usageError } from '../options/option.ts'
import { fileValue, switchOff, textValue } from '../options/option-types.ts'
import { vaultOption } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { warnAboutVault } from '../record/record-output.ts'
import { showProgress } from '../output/progress.ts'

interface ImportFlags {
  readonly format?: string
  readonly output?: string
  readonly server?: string
  readonly redact?: boolean
  readonly vault?: string
}

export const importCommand: CommandDefinition = defineCommand<ImportFlags>({
  name: 'import',
  arguments: { '<file...>': 'Paths of recordings; a folder, if the format is one' },
  options: {
    format: option(
      '--format <format>',
      textValue,
      `Read the recording in this format: ${IMPORT_FORMATS.map(({ name }) => name).join(', ')}`,
      { default: 'recognised by content' },
    ),
    output: option('-o, --output <tape>', fileValue, 'Write to a tape with this name or path', {
      default: 'the name of the file',
    }),
    server: option('--server <name>', textValue, 'Name the server on the tape', {
      default: 'as in the file, or imported',
    }),
    redact: option('--no-redact', switchOff, 'Write secrets to the tape unchanged, instead of placeholders', {
      conflicts: ['vault'],
    }),
    vault: vaultOption,
  },
  run: async (paths, { output, redact, vault, ...options }) => {
    if (output !== undefined && paths.length > 1)
      throw usageError(
        '-o names one tape, but there are several files',
        'import them one by one, or leave out -o',
      )
    if (redact !== false) announceConfig({}, 'run')
    if (redact !== false || options.format !== undefined) loadFormatsFor(options.format, IMPORT_NAMES)
    const redaction: RedactOption = redact === false ? false : { ...(vault !== undefined && { vault }) }
    for (const path of paths)
      await importFile(path, { ...options, tape: output ?? tapeName(path), redaction })
  },
})

interface ImportFileOptions {
  readonly format?: string
  readonly server?: string
  readonly tape: string
  readonly redaction: RedactOption
}

async function importFile(
  path: string,
  { format, server, tape, redaction }: ImportFileOptions,
): Promise<void> {
  if (existsSync(path)) requireNewFile(resolveTape(tape)) // otherwise reading it fails, which says more
  if (redaction !== false && redaction.vault !== undefined)
    warnAboutVault({ output: undefined, name: tape, redact: redaction })
  const recording = await readRecording(path, format)
  showProgress(`writing ${recording.frames.length} frames`)
  const { header, frames } = assemble(recording, { server, now: new Date() })
  const written = await writeTape(header, frames, tape, redaction)
  const shown = createOutputRedactor()
  importNotes(recording.notes, shown)
  const messages = frames.filter(({ kind }) => kind === 'message').length
  const others = Object.keys(header.servers).length
  const servers = others > 1 ? ` of ${others} servers` : ''
  print(`${messages} messages${servers} (${recording.format}) to ${escapeControlChars(written.path)}\n`)
}

const IMPORT_NAMES = IMPORT_FORMATS.map(({ name }) => name)

/** A config in JavaScript that the user trusts can add formats with `registerFormat`. Built-in formats need no config. */
export function loadFormatsFor(format: string | undefined, builtIn: readonly string[]): void {
  if (format === undefined || !builtIn.includes(format))
    findProjectConfig(process.cwd(), format === undefined ? 'ignore' : 'run')
}

export function importNotes(notes: readonly string[] = [], shown: (text: string) => string): void {
  for (const note of notes) process.stderr.write(`note: ${escapeControlChars(shown(note))}\n`)
}

/** Reads a file, and adds its path to errors. */
export async function readRecording(
  path: string,
  format: string | undefined,
): ReturnType<typeof readForeignFile> {
  const { bytes, companions } = await readImportFiles(path)
  try {
    return await readForeignFile(bytes, { format, companions })
  } catch (error) {
    if (!(error instanceof ReelayError) || error.code !== 'IMPORT_FAILED') throw error
    throw new ReelayError('IMPORT_FAILED', `${path}: ${error.message}`, {
      ...(error.hint !== undefined && { hint: error.hint }),
      cause: error,
    })
  }
}

function tapeName(path: string): string {
  return basename(path).replace(/\..*$/, '') || 'imported'
}

interface ImportFiles {
  readonly bytes: Uint8Array
  readonly companions: ReadonlyMap<string, string>
}

/** Reads a file, or the recording in a folder with the small files beside it. Nothing that a file names is ever opened. */
async function readImportFiles(path: string): Promise<ImportFiles> {
  const facts = await stat(path).catch((error: unknown) => {
    throw unreadable(path, errorMessage(error), error)
  })
  if (!facts.isDirectory() && !facts.isFile()) throw unreadable(path, 'it is not a regular file', undefined) // a pipe would block until somebody writes
  if (!facts.isDirectory()) return { bytes: await readBounded(path), companions: new Map() }
  const names = await readdir(path)
  const main = names.find((name) => name === 'recording.jsonl')
  if (main === undefined)
    throw new ReelayError('IMPORT_FAILED', `${path} is a folder without a recording that can be recognised`, {
      hint: 'give the path of a file; folders are read if they contain recording.jsonl (mcp-time-travel)',
    })
  const companions = new Map<string, string>()
  for (const name of names
    .filter((each) => each !== main && extname(each) === '.json')
    .slice(0, MAX_COMPANIONS))
    companions.set(name, Buffer.from(await readBounded(join(path, name))).toString('utf8'))
  return { bytes: await readBounded(join(path, main)), companions }
}

const MAX_COMPANIONS = 20
/** The whole file is read into memory, and its messages take several times its size. */
const MAX_IMPORT_BYTES = 128 * 1024 * 1024

async function readBounded(path: string): Promise<Uint8Array> {
  try {
    const file = await open(path, 'r')
    try {
      const facts = await file.stat()
      if (!facts.isFile()) throw new Error('it is not a regular file')
      if (facts.size > MAX_IMPORT_BYTES) throw tooLarge(path, facts.size)
      return await file.readFile()
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof ReelayError) throw error
    throw unreadable(path, errorMessage(error), error)
  }
}

function tooLarge(path: string, bytes: number): ReelayError {
  const size = `${Math.round(bytes / 1024 / 1024)} MB`
  return new ReelayError('IMPORT_FAILED', `${path} has ${size}; recordings up to 128 MB can be imported`, {
    hint: 'split it: recordings of lines with `split -l`, packet captures with `editcap -c`',
  })
}

function unreadable(path: string, why: string, cause: unknown): ReelayError {
  const hint = 'check the path and its permissions'
  return new ReelayError('IMPORT_FAILED', `${path} cannot be read: ${why}`, { hint, cause })
}
