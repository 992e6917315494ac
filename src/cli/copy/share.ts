import { resolve } from 'node:path'
import { shareTape } from '../../share/share-tape.ts'
import { requireNewFile } from '../../store/file/write.ts'
import { companionFileFor, companionFilesOf } from '../../store/companion-files.ts'
import { resolveTape } from '../../store/home.ts'
import { escapeControlChars, quoteShellWord } from '../../text.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { print } from '../output/print.ts'
import { allowanceNote, redactionSummary } from './redact.ts'
import { warnAboutCopyVault } from '../record/record-output.ts'
import { announceConfig, CONFIG_OPTIONS, type ConfigFlags } from '../options/config-options.ts'
import { option, usageError } from '../options/option.ts'
import { fileValue } from '../options/option-types.ts'
import { REDACTION_OPTIONS, readRuleChanges, type RedactionFlags } from '../options/redact-options.ts'
import { TAPE_ARGUMENT, jsonOption, serverFilter, vaultOption } from '../options/shared-options.ts'
import { showTapeReading } from '../output/progress.ts'

interface ShareFlags extends RedactionFlags, ConfigFlags {
  readonly output?: string
  readonly vault?: string
  readonly server?: string
  readonly json?: true
}

export const shareCommand: CommandDefinition = defineCommand<ShareFlags>({
  name: 'share',
  usage: '[options] <tape> -o <file>',
  arguments: TAPE_ARGUMENT,
  options: {
    output: option(
      '-o, --output',
      fileValue,
      'Write the copy to this file (required); an existing file is never overwritten',
    ),
    server: serverFilter('Share only these servers'),
    ...REDACTION_OPTIONS,
    vault: { ...vaultOption, help: `${vaultOption.help}; never share it` },
    ...CONFIG_OPTIONS,
    json: jsonOption,
  },
  run: async ([name = ''], { output, json, server, vault, ...flags }) => {
    showTapeReading()
    announceConfig(flags, 'refuse')
    if (output === undefined)
      throw usageError('--output is required', 'for example: reelay share my-tape -o copy.tape.jsonl')
    requireNewFile(resolve(output))
    const changes = readRuleChanges(flags)
    const from = resolveTape(name)
    const copied = await shareTape({ from, to: output, changes, server, vault })
    warnAboutCopyVault(copied)
    if (json) return print(`${JSON.stringify(copied, undefined, 2)}\n`)
    print(
      `wrote ${escapeControlChars(copied.path)}: ${redactionSummary(copied)}${copied.secrets === 0 ? '' : ' replaced, and none of them is left'}\n`,
    )
    print(
      `  checked by replaying: ${copied.answered} ${copied.answered === 1 ? 'request' : 'requests'} answered as on the tape\n${allowanceNote(copied)}${companionsNote(from, output)}`,
    )
  },
})

/** Names the rules and the profile that `verify` and `serve` would not find beside the copy. */
function companionsNote(from: string, to: string): string {
  const commands = companionFilesOf(from).map(
    (path) => `    cp ${quoteShellWord(path)} ${quoteShellWord(companionFileFor(to, path))}`,
  )
  if (commands.length === 0) return ''
  const intro = '  the settings of the tape are in files of their own. To use them with the copy:'
  return `${[intro, ...commands].map(escapeControlChars).join('\n')}\n`
}
