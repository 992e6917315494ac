import { Command } from 'commander'
import { RECORD_OPTIONS } from './options/record-options.ts'

/** The help page of `record`; `main` runs the command itself, before commander is loaded. */
export const recordCommand: Command = new Command('record')
  .description('stand between a client and a server and make a tape')
  .usage(
    '[options] [<name>] -- <server command…>\n' +
      '       reelay record [options] --url <url> [<name>]\n' +
      '       reelay record [options] --bridge --url <url> [<name>]\n' +
      '       reelay record [options] --forward [<name>] [-- <client command…>]',
  )
  .addHelpText(
    'after',
    '\nWithout -o or a name, the tape gets a dated name. Names live in $REELAY_HOME/tapes.',
  )

for (const { short, long, value, about } of RECORD_OPTIONS) {
  const flags = [short, long].filter((flag) => flag !== undefined).join(', ')
  recordCommand.option(value === undefined ? flags : `${flags} <${value}>`, about)
}
