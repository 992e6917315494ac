import { redactTapeLabels } from '../../redact/redact-tape.ts'
import { renderReport } from '../../report/registry.ts'
import { tapeFolder } from '../../store/home.ts'
import { listTapes, type TapeSummary } from '../../store/file/list.ts'
import { parseServerFilter } from '../../tape/server-filter.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import {
  isChosenTape,
  jsonOption,
  serverFilter,
  TAPE_CHOICE_OPTIONS,
  type TapeChoice,
} from '../options/shared-options.ts'
import { printChunks, printTable } from '../output/print.ts'
import { createThrowawayRedactor } from '../../serve/redaction/report-redactor.ts'

interface ListFlags extends TapeChoice {
  readonly json?: true
  readonly server?: string
}

export const listCommand: CommandDefinition = defineCommand<ListFlags>({
  name: 'list',
  options: {
    server: serverFilter('Show only tapes of these servers'),
    ...TAPE_CHOICE_OPTIONS,
    json: jsonOption,
  },
  run: async (_, { json, server, ...choice }) => {
    const folder = tapeFolder()
    const isSelected = parseServerFilter(server)
    const found = (await listTapes(folder)).map(redactedSummary)
    const isNarrowed = Object.values(choice).some((value) => value !== undefined)
    const tapes = found.filter((tape) =>
      tape.kind === 'problem' ? !isNarrowed : tape.servers.some(isSelected) && isChosenTape(tape, choice),
    )
    if (json || tapes.length > 0)
      await (json ? printChunks : printTable)(
        await renderReport('list', json ? 'json' : 'text', { folder, tapes }),
      )
    else if (found.length > 0 && isNarrowed)
      process.stderr.write(`no tape in ${folder} has these labels and was recorded at that time\n`)
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

/** The paths of the tapes of the tape folder with the wanted labels, newest first. */
export async function chosenTapes(choice: TapeChoice): Promise<readonly string[]> {
  const tapes = await listTapes(tapeFolder())
  return tapes.flatMap((each) => (each.kind === 'tape' && isChosenTape(each, choice) ? [each.path] : []))
}
