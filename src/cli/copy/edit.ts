import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { exportTape } from '../../convert/export-tape.ts'
import { assemble, readForeignFile, writeTape } from '../../convert/import-tape.ts'
import { ReelayError } from '../../errors.ts'
import { requireNewFile } from '../../store/file/write.ts'
import { resolveTape } from '../../store/home.ts'
import { escapeControlChars } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { option } from '../options/option.ts'
import { fileValue } from '../options/option-types.ts'
import { TAPE_ARGUMENT } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { importNotes } from './import.ts'

interface EditFlags {
  readonly output?: string
}

export const editCommand: CommandDefinition = defineCommand<EditFlags>({
  name: 'edit',
  arguments: TAPE_ARGUMENT,
  options: {
    output: option('-o, --output <tape>', fileValue, 'Write the edited tape to this name or path', {
      default: 'the name of the tape with -edited',
    }),
  },
  run: async ([name = ''], { output }) => {
    const tape = output ?? `${basename(name).replace(/(\.tape)?\.jsonl$/, '')}-edited`
    requireNewFile(resolveTape(tape))
    const { text } = await exportTape(resolveTape(name), { format: 'yaml' })
    const folder = mkdtempSync(join(tmpdir(), 'reelay-edit-'))
    const draft = join(folder, 'tape.yaml')
    try {
      writeFileSync(draft, text, { mode: 0o600 })
      openEditor(draft)
      if (readFileSync(draft, 'utf8') === text) return print('nothing was changed, so no tape was written\n')
      await writeEdited(draft, tape)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
})

async function writeEdited(draft: string, tape: string): Promise<void> {
  const recording = await readForeignFile(readFileSync(draft), { format: 'yaml' })
  const { header, frames } = assemble(recording, { now: new Date() })
  const { path } = await writeTape(header, frames, tape, undefined)
  importNotes(recording.notes, createOutputRedactor())
  print(`wrote ${escapeControlChars(path)}\n`)
}

/** The editor of the user may have arguments, such as `code --wait`. */
function openEditor(file: string): void {
  const command = process.env['VISUAL'] ?? process.env['EDITOR'] ?? 'vi'
  const isWindows = process.platform === 'win32'
  const { status, error } = isWindows
    ? spawnSync(`${command} "${file}"`, { stdio: 'inherit', shell: true })
    : spawnSync('sh', ['-c', `${command} "$1"`, 'sh', file], { stdio: 'inherit' })
  if (error === undefined && status === 0) return
  throw new ReelayError('EXPORT_FAILED', `the editor ${command} ended with an error; the tape is unchanged`, {
    hint: 'set VISUAL or EDITOR, for example to code --wait; or use reelay export --format yaml and reelay import',
  })
}
