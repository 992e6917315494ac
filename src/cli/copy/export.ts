import { basename, resolve } from 'node:path'
import { existsSync } from 'node:fs'
import { assemble, readerOf, writeTape } from '../../convert/import-tape.ts'
import { exportTape } from '../../convert/export-tape.ts'
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
import { choiceOf, fileValue, switchOff, textValue } from '../options/option-types.ts'
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
      textValue,
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
    else await sendSpans(written, otlp)
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

async function writeOutput({ text }: WrittenExport, output: string | undefined): Promise<void> {
  if (output === undefined) return printChunks([text])
  try {
    writePrivateFile(resolve(output), text)
  } catch (cause) {
    throw new ReelayError('EXPORT_FAILED', `${output} cannot be written: ${errorMessage(cause)}`, {
      hint: 'check the folder and its permissions',
      cause,
    })
  }
  process.stderr.write(`wrote ${escapeControlChars(output)}\n`)
}

function reportLost({ lost }: WrittenExport): void {
  if (lost.length > 0) process.stderr.write(`lost: ${escapeControlChars(lost.join(', '))}\n`)
}

async function sendSpans({ text }: WrittenExport, target: string): Promise<void> {
  const url = URL.canParse(target) ? new URL(target) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw usageError(`--otlp ${target} is not the URL of a collector`, 'for example http://127.0.0.1:4318')
  if (url.pathname === '/') url.pathname = '/v1/traces'
  const failed = (why: string, cause?: unknown): ReelayError =>
    new ReelayError('EXPORT_FAILED', `the spans could not be sent to ${url.href}: ${why}`, {
      hint: 'check that a collector listens there for OTLP over HTTP',
      cause,
    })
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: text,
  }).catch((error: unknown) => {
    throw failed(errorMessage(error), error)
  })
  if (!response.ok) throw failed(`HTTP status ${response.status}`)
  await response.body?.cancel()
  process.stderr.write(`sent to ${url.href}\n`)
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
    const wanted = toFormat ?? (to.endsWith('.tape.jsonl') ? 'tape' : formatOfFile(to))
    if (wanted !== 'tape') exportFormat(wanted)
    const source = await openSource(from, fromFormat)
    if (wanted === 'tape') {
      const frames = []
      for await (const frame of source.frames()) frames.push(frame)
      const { path } = await writeTape(
        source.header,
        frames,
        resolve(to),
        redact === false ? false : undefined,
      )
      return print(`wrote ${escapeControlChars(path)}\n`)
    }
    const shown = redact === false ? source : redactTapeForOutput(source).tape
    const written = await exportTape(shown, { format: wanted, server })
    await writeOutput(written, to)
    reportLost(written)
  },
})

/** Opens a tape, or reads the recording of another tool into memory. */
async function openSource(from: string, format: string | undefined): Promise<TapeReader> {
  if (format === undefined && !existsSync(from)) return openTape(resolveTape(from))
  if (format === undefined && from.endsWith('.tape.jsonl')) return openTape(from)
  const recording = await readRecording(from, format)
  importNotes(recording.notes, createOutputRedactor())
  const { header, frames } = assemble(recording, { now: new Date() })
  return readerOf(from, header, frames)
}
