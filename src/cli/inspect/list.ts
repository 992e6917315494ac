import { redactTapeLabels } from '../../redact/redact-tape.ts'
import { renderReport } from '../../report/registry.ts'
import { tapeFolder } from '../../store/home.ts'
import { listTapes, type TapeSummary } from '../../store/file/list.ts'
import { parseServerFilter } from '../../tape/server-filter.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { jsonOption, serverFilter } from '../options/shared-options.ts'
import { printChunks } from '../output/print.ts'
import { createThrowawayRedactor } from '../../serve/redaction/report-redactor.ts'

export const listCommand: CommandDefinition = defineCommand<{ json?: true; server?: string }>({
  name: 'list',
  options: { server: serverFilter('Show only tapes of these servers'), json: jsonOption },
  run: async (_, { json, server }) => {
    const folder = tapeFolder()
    const isSelected = parseServerFilter(server)
    const found = (await listTapes(folder)).map(redactedSummary)
    const tapes = found.filter((tape) => tape.kind === 'problem' || tape.servers.some(isSelected))
    if (json || tapes.length > 0)
      await printChunks(await renderReport('list', json ? 'json' : 'text', { folder, tapes }))
    else if (found.length > 0) process.stderr.write(`no tape in ${folder} has a server ${server}\n`)
    else
      process.stderr.write(
        `no tapes in ${folder} yet: record one with reelay record <name> -- <server command>\n`,
      )
  },
})

/** Labels of a tape that was not redacted may contain secrets. */
function redactedSummary(tape: TapeSummary): TapeSummary {
  if (tape.kind === 'problem' || tape.isRedacted) return tape
  return { ...tape, labels: redactTapeLabels(tape.labels, createThrowawayRedactor()) }
}
