import { Command } from 'commander'
import { shareTape } from '../share/share-tape.ts'
import { resolveTape } from '../store/home.ts'
import { escapeControlChars } from '../text.ts'
import { print } from './output/print.ts'
import { redactionSummary } from './redact.ts'
import { warnAboutCopyVault } from './output/vault-warning.ts'
import { declareRedactionOptions, readRedactionFlags, type RedactionFlags } from './options/redact-options.ts'

export const shareCommand: Command = declareRedactionOptions(new Command('share'))
  .description(
    'write a copy of a tape that can be given away, after proving that it holds no secret and still replays',
  )
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .requiredOption('-o, --output <file>', 'where to write the copy (never over an existing file)')
  .option(
    '--vault <file>',
    'add the values that were replaced to this file, for replay --secrets; never give it away',
  )
  .option('--json', 'print the result as JSON')
  .option('--server <filter>', 'share these servers only: names with commas between, * for anything')
  .action(async (name: string, { output, json = false, server, vault, ...flags }: ShareFlags) => {
    const changes = readRedactionFlags(flags)
    const copied = await shareTape({ from: resolveTape(name), to: output, changes, server, vault })
    warnAboutCopyVault(copied)
    if (json) return print(`${JSON.stringify(copied, undefined, 2)}\n`)
    print(
      `wrote ${escapeControlChars(copied.path)}: ${redactionSummary(copied)}${copied.secrets === 0 ? '' : ' replaced, and none of them is left'}\n`,
    )
    print(
      `  played to itself: ${copied.answered} ${copied.answered === 1 ? 'request' : 'requests'} answered as on the tape\n`,
    )
  })

interface ShareFlags extends RedactionFlags {
  readonly output: string
  readonly server?: string
  readonly json?: boolean
  readonly vault?: string
}
