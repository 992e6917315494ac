import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { IMPORT_FORMATS, readImportedRecording } from '../../convert/import/index.ts'
import { errorMessage, ReelayError } from '../../errors.ts'
import type { RedactOption } from '../../record/redaction.ts'
import { createRecording } from '../../record/recording.ts'
import { jsonOnOneLine } from '../../json/parse.ts'
import { requireNewFile } from '../../store/file/write.ts'
import { resolveTape } from '../../store/home.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { announceConfig } from '../options/config-options.ts'
import { option } from '../options/option.ts'
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
  arguments: { '<file>': 'Path of the recording' },
  options: {
    format: option(
      '--format <format>',
      textValue,
      `Read the recording in this format: ${IMPORT_FORMATS.map(({ name, description }) => `${name} (${description})`).join(', ')}`,
      { default: 'detected' },
    ),
    output: option('-o, --output <tape>', fileValue, 'Write to a tape with this name or path', {
      default: 'the name of the file',
    }),
    server: option('--server <name>', textValue, 'Name the server on the tape', { default: 'imported' }),
    redact: option('--no-redact', switchOff, 'Write secrets to the tape unchanged, instead of placeholders', {
      conflicts: ['vault'],
    }),
    vault: vaultOption,
  },
  run: async ([path = ''], { format, output, server = 'imported', redact, vault }) => {
    if (redact !== false) announceConfig({}, 'run')
    const { messages, notes, format: found } = readRecording(path, await readImportFile(path), format)
    const tape = output ?? basename(path).replace(/\..*$/, '')
    requireNewFile(resolveTape(tape))
    const redaction: RedactOption = redact === false ? false : { ...(vault !== undefined && { vault }) }
    if (vault !== undefined) warnAboutVault({ output: undefined, name: tape, redact: redaction })
    const recording = createRecording({ tape, redact: redaction })
    const pipes = recording.pipes({ server, info: { transport: 'import' } })
    const taps = { c2s: pipes.recordDirection('c2s'), s2c: pipes.recordDirection('s2c') }
    for (const [at, { dir, text: line }] of messages.entries()) {
      showProgress(`importing message ${at + 1} of ${messages.length}`)
      taps[dir].pass(Buffer.from(`${jsonOnOneLine(line)}\n`), () => {})
    }
    for (const tap of Object.values(taps)) tap.end()
    const { path: written, loss } = await recording.close()
    if (loss !== undefined || written === undefined) throw unwritable(tape, loss?.why ?? 'no file was made')
    const shown = createOutputRedactor()
    for (const note of notes) process.stderr.write(`note: ${shown(note)}\n`)
    print(`${messages.length} messages (${found}) to ${written}\n`)
  },
})

/** Adds the path of the file, and says so if it is a tape already. */
function readRecording(
  path: string,
  text: string,
  format: string | undefined,
): ReturnType<typeof readImportedRecording> {
  try {
    return readImportedRecording(text, format)
  } catch (error) {
    if (!(error instanceof ReelayError) || error.code !== 'IMPORT_FAILED') throw error
    const hint = text.startsWith('{"reelay":') ? 'the file is a tape already: use it by its path' : error.hint
    throw new ReelayError('IMPORT_FAILED', `${path}: ${error.message}`, {
      ...(hint !== undefined && { hint }),
      cause: error,
    })
  }
}

async function readImportFile(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).replace(/^\uFEFF/, '')
  } catch (error) {
    const why = errorMessage(error)
    const hint = 'check the path and its permissions'
    throw new ReelayError('IMPORT_FAILED', `${path} cannot be read: ${why}`, { hint, cause: error })
  }
}

function unwritable(tape: string, why: string): ReelayError {
  return new ReelayError('TAPE_UNWRITABLE', `the tape ${tape} could not be written: ${why}`, {
    hint: 'check the folder, or name another tape with -o',
  })
}
