import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { Command } from 'commander'
import { IMPORT_FORMATS, readImportedRecording } from '../convert/import/index.ts'
import { ReelayError } from '../errors.ts'
import type { RedactOption } from '../record/redaction.ts'
import { createRecording } from '../record/recording.ts'
import { jsonOnOneLine } from '../json/parse.ts'
import { print } from './output/print.ts'
import { createOutputRedactor } from './output/redact-output.ts'

export const importCommand: Command = new Command('import')
  .description("make a tape of another tool's recording")
  .argument('<file>', 'the recording')
  .option(
    '--format <format>',
    `${IMPORT_FORMATS.map(({ name, description }) => `${name} (${description})`).join(', ')}; by default told by its looks`,
  )
  .option('-o, --output <tape>', 'a tape name, or a path; by default the name of the file')
  .option('--server <name>', 'what to call the server on the tape', 'imported')
  .option('--vault <file>', 'add the values that get stand-ins to this file, for replay --secrets')
  .option('--no-redact', 'leave secrets as they are')
  .action(async (file: string, { format, output, server, redact, vault }: ImportFlags) => {
    const { messages, notes, format: found } = readImportedRecording(await readImportFile(file), format)
    const tape = output ?? basename(file).replace(/\..*$/, '')
    const care = redactOption(redact, vault)
    if (vault !== undefined)
      (await import('./output/vault-warning.ts')).warnAboutVault({
        output: undefined,
        name: tape,
        redact: care,
      })
    const recording = createRecording({ tape, redact: care })
    const pipes = recording.pipes({ server, info: { transport: 'import' } })
    const taps = { c2s: pipes.recordDirection('c2s'), s2c: pipes.recordDirection('s2c') }
    for (const { dir, text } of messages) taps[dir].pass(Buffer.from(`${jsonOnOneLine(text)}\n`), () => {})
    for (const tap of Object.values(taps)) tap.end()
    const { path, loss } = await recording.close()
    if (loss !== undefined || path === undefined) throw unwritable(tape, loss?.why ?? 'no file was made')
    const shown = createOutputRedactor()
    for (const note of notes) process.stderr.write(`note: ${shown(note)}\n`)
    print(`${messages.length} messages (${found}) to ${path}\n`)
  })

interface ImportFlags {
  readonly format?: string
  readonly output?: string
  readonly server: string
  readonly redact: boolean
  readonly vault?: string
}

function redactOption(redact: boolean, vault: string | undefined): RedactOption {
  if (redact) return vault === undefined ? {} : { vault }
  if (vault === undefined) return false
  throw new ReelayError('USAGE', '--no-redact and --vault', {
    hint: 'without stand-ins there is nothing to keep in a vault',
  })
}

async function readImportFile(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '')
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const hint = 'check the path and who may read it'
    throw new ReelayError('IMPORT_FAILED', `${file} cannot be read: ${why}`, { hint, cause: error })
  }
}

function unwritable(tape: string, why: string): ReelayError {
  return new ReelayError('TAPE_UNWRITABLE', `the tape ${tape} could not be written: ${why}`, {
    hint: 'check the folder, or name another tape with -o',
  })
}
