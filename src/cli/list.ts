import { Command } from 'commander'
import { redactTapeLabels } from '../redact/redact-tape.ts'
import { listAsJson, listAsText } from '../report/list.ts'
import { tapeFolder } from '../store/home.ts'
import { listTapes, type TapeSummary } from '../store/file/list.ts'
import { parseServerFilter } from '../tape/server-filter.ts'
import { print } from './output/print.ts'
import { createThrowawayRedactor } from '../serve/redaction/report-redactor.ts'

export const listCommand: Command = new Command('list')
  .description('list the tapes in the tape folder')
  .option('--json', 'print the list as JSON')
  .option('--server <filter>', 'tapes of these servers only: names with commas between, * for anything')
  .action(async ({ json, server }: { json?: true; server?: string }) => {
    const folder = tapeFolder()
    const isMeant = parseServerFilter(server)
    const found = (await listTapes(folder)).map(redactedSummary)
    const tapes = found.filter((tape) => tape.kind === 'problem' || tape.servers.some(isMeant))
    if (json) print(listAsJson(folder, tapes))
    else if (tapes.length > 0) print(listAsText(tapes))
    else if (found.length > 0) process.stderr.write(`no tape in ${folder} holds a server ${server}\n`)
    else
      process.stderr.write(`no tapes in ${folder} yet: reelay record <name> -- <server command> makes one\n`)
  })

/** Labels of a tape that was never redacted may hold anything. */
function redactedSummary(tape: TapeSummary): TapeSummary {
  if (tape.kind === 'problem' || tape.isRedacted) return tape
  return { ...tape, labels: redactTapeLabels(tape.labels, createThrowawayRedactor()) }
}
