import { selectTapeServers } from '../../report/inspect/inspect.ts'
import { readOverview } from '../../report/inspect/overview.ts'
import { renderReport } from '../../report/registry.ts'
import { callStats } from '../../report/stats.ts'
import { resolveTape } from '../../store/home.ts'
import { openTape } from '../../store/file/read.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { TAPE_ARGUMENT, jsonOption, serverFilter } from '../options/shared-options.ts'
import { printChunks } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { showTapeReading } from '../output/progress.ts'

export const statsCommand: CommandDefinition = defineCommand<{ json?: true; server?: string }>({
  name: 'stats',
  arguments: TAPE_ARGUMENT,
  options: { server: serverFilter('Count only these servers'), json: jsonOption },
  run: async ([name = ''], { json, server }) => {
    showTapeReading()
    const tape = await openTape(resolveTape(name))
    const { exchanges } = await readOverview(
      server === undefined ? tape : await selectTapeServers(tape, server),
    )
    const report = await renderReport('stats', json ? 'json' : 'text', callStats(exchanges))
    await printChunks(report, tape.header.redaction === undefined ? createOutputRedactor() : String)
  },
})
