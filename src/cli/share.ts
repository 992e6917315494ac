import { Command } from 'commander'
import { shareTape } from '../share/share-tape.ts'
import { resolveTape } from '../store/home.ts'
import { visible } from '../wire/visible.ts'
import { print } from './print.ts'
import { inWords } from './redact.ts'

export const shareCommand: Command = new Command('share')
  .description(
    'write a copy of a tape that can be given away, after proving that it holds no secret and still replays',
  )
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .requiredOption('-o, --output <file>', 'where to write the copy (never over an existing file)')
  .option('--email', 'give e-mail addresses stand-ins too')
  .option('--json', 'print the result as JSON')
  .action(async (name: string, { output, email = false, json = false }: ShareFlags) => {
    const copied = await shareTape({ from: resolveTape(name), to: output, email })
    if (json) return print(`${JSON.stringify(copied, undefined, 2)}\n`)
    print(`wrote ${visible(copied.path)}: ${inWords(copied)} replaced, and none of them is left\n`)
    print(`  played to itself: ${copied.answered} requests answered as on the tape\n`)
  })

interface ShareFlags {
  readonly output: string
  readonly email?: boolean
  readonly json?: boolean
}
