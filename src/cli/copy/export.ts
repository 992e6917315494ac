import {
  constants,
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdtempSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { assemble, readerOf, writeTape } from '../../convert/import-tape.ts'
import { exportTape } from '../../convert/export-tape.ts'
import { collectorUrl, sendSpans } from '../../convert/send-spans.ts'
import {
  EXPORT_FORMATS,
  exportFormat,
  exportFormats,
  type WrittenExport,
} from '../../convert/export/index.ts'
import { errorMessage, ReelayError } from '../../errors.ts'
import { openTape, type TapeReader } from '../../store/file/read.ts'
import { requireNewFile, writePrivateFile } from '../../store/file/write.ts'
import { resolveTape } from '../../store/home.ts'
import { escapeControlChars } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { announceConfig } from '../options/config-options.ts'
import { option, usageError, type ValueType } from '../options/option.ts'
import { choiceOf, collectorValue, fileValue, switchOff, textValue } from '../options/option-types.ts'
import { TAPE_ARGUMENT } from '../options/shared-options.ts'
import { print, printChunks } from '../output/print.ts'
import { createOutputRedactor, redactTapeForOutput } from '../output/redact-output.ts'
import { showTapeReading } from '../output/progress.ts'
import { importNotes, loadFormatsFor, readRecording } from './import.ts'

const FORMAT_NAMES = EXPORT_FORMATS.map(({ name }) => name)

/** A format by name. The config of the project can add names. */
function formatValue(names: readonly string[]): ValueType<string> {
  return { ...choiceOf(...names), parse: (given) => given }
}

interface ExportFlags {
  readonly format?: string
  readonly output?: string
  readonly server?: string
  readonly redact?: boolean
  readonly otlp?: string
}

export const exportCommand: CommandDefinition = defineCommand<ExportFlags>({
  name: 'export',
  arguments: TAPE_ARGUMENT,
  options: {
    format: option('--format <format>', formatValue(FORMAT_NAMES), 'Write the tape in this format', {
      default: 'by the end of the name of the file, such as .har',
    }),
    output: option('-o, --output <file>', fileValue, 'Write to this file', { default: 'stdout' }),
    server: option('--server <name>', textValue, 'Export only this server'),
    redact: option('--no-redact', switchOff, 'Keep secrets that are on the tape, instead of placeholders'),
    otlp: option(
      '--otlp <url>',
      collectorValue,
      'Send the spans to an OpenTelemetry collector, such as http://127.0.0.1:4318, instead of writing them',
      { conflicts: ['output', 'format'] },
    ),
  },
  run: async ([name = ''], { format, output, server, redact, otlp }) => {
    showTapeReading()
    if (output !== undefined) requireNewFile(resolve(output))
    loadFormatsFor(format, FORMAT_NAMES)
    const wanted = otlp === undefined ? (format ?? formatOfFile(output)) : 'otlp'
    exportFormat(wanted)
    const reader = shownTape(await openTape(resolveTape(name)), redact)
    const written = await exportTape(reader, {
      format: wanted,
      server,
      name: basename(name).replace(/(\.tape)?\.jsonl$/, ''),
    })
    if (otlp === undefined) await writeOutput(written, output)
    else {
      await sendSpans(written.text, collectorUrl(otlp))
      process.stderr.write(`sent to ${collectorUrl(otlp).href}\n`)
    }
    reportLost(written)
  },
})

/** Exports are shared, so that a tape with secrets is exported with placeholders. */
function shownTape(
  reader: TapeReader,
  redact: boolean | undefined,
): Pick<TapeReader, 'path' | 'header' | 'frames'> {
  return redact === false ? reader : redactTapeForOutput(reader).tape
}

function formatOfFile(file: string | undefined): string {
  const matching = exportFormats().filter(({ extension }) => file?.endsWith(extension) === true)
  const [best] = matching.toSorted((a, b) => b.extension.length - a.extension.length)
  if (best !== undefined) return best.name
  throw usageError(
    file === undefined ? 'the format is missing' : `the name ${file} does not show the format`,
    `choose it with --format: ${FORMAT_NAMES.join(', ')}`,
  )
}

async function writeOutput(written: WrittenExport, output: string | undefined): Promise<void> {
  if (output === undefined) return printChunks([written.text])
  writeExport(written, output)
  process.stderr.write(`wrote ${escapeControlChars(output)}\n`)
}

function writeExport({ text }: WrittenExport, file: string): void {
  try {
    writePrivateFile(resolve(file), text)
  } catch (cause) {
    throw new ReelayError('EXPORT_FAILED', `${file} cannot be written: ${errorMessage(cause)}`, {
      hint: 'check the folder and its permissions',
      cause,
    })
  }
}

function reportLost({ lost }: WrittenExport): void {
  if (lost.length > 0) process.stderr.write(`lost: ${escapeControlChars(lost.join(', '))}\n`)
}

interface ConvertFlags {
  readonly from?: string
  readonly to?: string
  readonly server?: string
  readonly redact?: boolean
}

export const convertCommand: CommandDefinition = defineCommand<ConvertFlags>({
  name: 'convert',
  arguments: { '<from>': 'A tape, or a recording of another tool', '<to>': 'The file to write' },
  options: {
    from: option('--from <format>', textValue, 'The format of the recording', {
      default: 'recognised by content',
    }),
    to: option('--to <format>', formatValue(['tape', ...FORMAT_NAMES]), 'The format to write', {
      default: 'by the end of the name of the file, such as .har or .tape.jsonl',
    }),
    server: option('--server <name>', textValue, 'Convert only this server'),
    redact: option('--no-redact', switchOff, 'Keep secrets, instead of placeholders'),
  },
  run: async ([from = '', to = ''], { from: fromFormat, to: toFormat, server, redact }) => {
    requireNewFile(resolve(to))
    if (redact !== false) announceConfig({}, 'run')
    loadFormatsFor(toFormat ?? fromFormat, ['tape', ...FORMAT_NAMES])
    const name = to.replace(PACKED, '')
    const wanted = toFormat ?? (name.endsWith('.tape.jsonl') ? 'tape' : formatOfFile(name))
    if (wanted !== 'tape') exportFormat(wanted)
    const folder = mkdtempSync(join(tmpdir(), 'reelay-convert-'))
    try {
      const source = await openSource(await unpacked(from, folder), fromFormat)
      const file = PACKED.test(to) ? join(folder, `to-${basename(name)}`) : to
      if (wanted === 'tape' && server === undefined && isFinished(source, redact === false)) {
        copyFileSync(source.path, resolve(file), constants.COPYFILE_EXCL)
      } else if (wanted === 'tape') {
        const frames = []
        for await (const frame of source.frames()) frames.push(frame)
        await writeTape(source.header, frames, resolve(file), redact === false ? false : undefined)
      } else {
        const shown = redact === false ? source : redactTapeForOutput(source).tape
        const written = await exportTape(shown, { format: wanted, server })
        writeExport(written, file)
        reportLost(written)
      }
      if (file !== to) await pipeInto(file, createGzip({ level: 9 }), to)
      const said = `wrote ${escapeControlChars(wanted === 'tape' ? resolve(to) : to)}\n`
      if (wanted === 'tape') print(said)
      else process.stderr.write(said)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
})

/** A tape without secrets is copied as it is. */
function isFinished({ path, header }: TapeReader, keepsSecrets: boolean): boolean {
  const isTape = path.endsWith('.tape.jsonl') && existsSync(path)
  return isTape && (keepsSecrets || header.redaction !== undefined)
}

const PACKED = /\.gz$/u

/** The file, or a copy that is unpacked into the folder if it is compressed. */
async function unpacked(from: string, folder: string): Promise<string> {
  if (!PACKED.test(from) || !existsSync(from)) return from
  const copy = join(folder, basename(from).replace(PACKED, ''))
  try {
    await pipeInto(from, createGunzip(), copy)
  } catch (cause) {
    throw new ReelayError('IMPORT_FAILED', `${from} cannot be unpacked: ${errorMessage(cause)}`, {
      hint: 'a file whose name ends with .gz has to be compressed with gzip',
      cause,
    })
  }
  return copy
}

async function pipeInto(from: string, change: Transform, to: string): Promise<void> {
  await pipeline(createReadStream(from), change, createWriteStream(to, { mode: 0o600, flags: 'wx' }))
}

/** Opens a tape, or reads the recording of another tool into memory. */
async function openSource(from: string, format: string | undefined): Promise<TapeReader> {
  if (format === undefined && !existsSync(from)) return openTape(resolveTape(from))
  if (format === undefined && from.endsWith('.tape.jsonl')) return openTape(from)
  const recording = await readRecording(from, format)
  importNotes(recording.notes, createOutputRedactor())
  const { header, frames } = assemble(recording, { now: new Date() })
  return readerOf(from, header, frames)
}
