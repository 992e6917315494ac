import { Command } from 'commander'
import { listAsJson } from '../report/list-json.ts'
import { listAsText } from '../report/list-text.ts'
import { tapeFolder } from '../store/home.ts'
import { listTapes } from '../store/list.ts'
import { print } from './print.ts'

export const listCommand: Command = new Command('list')
  .description('list the tapes in the tape folder')
  .option('--json', 'print the list as JSON')
  .action(async ({ json }: { json?: true }) => {
    const folder = tapeFolder()
    const tapes = await listTapes(folder)
    if (json) print(listAsJson(folder, tapes))
    else if (tapes.length > 0) print(listAsText(tapes))
    else
      process.stderr.write(`no tapes in ${folder} yet: reelay record <name> -- <server command> makes one\n`)
  })
