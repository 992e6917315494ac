import { selectTapeServers } from '../../report/inspect/inspect.ts'
import { readOverview } from '../../report/inspect/overview.ts'
import { renderReport } from '../../report/registry.ts'
import { CallCounter } from '../../report/stats.ts'
import { resolveTape } from '../../store/home.ts'
import { openTape } from '../../store/file/read.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import {
  isChosenTape,
  jsonOption,
  serverFilter,
  TAPE_CHOICE_OPTIONS,
  type TapeChoice,
} from '../options/shared-options.ts'
import { printChunks, printTable } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { showTapeReading } from '../output/progress.ts'
import { chosenTapes } from './list.ts'

interface StatsFlags extends TapeChoice {
  readonly json?: true
  readonly server?: string
}

export const statsCommand: CommandDefinition = defineCommand<StatsFlags>({
  name: 'stats',
  usage: '[options] [tapes…]',
  arguments: { '[tapes...]': 'Tapes, which are counted together; by default all in the tape folder' },
  options: {
    server: serverFilter('Count only these servers'),
    ...TAPE_CHOICE_OPTIONS,
    json: jsonOption,
  },
  run: async (names, { json, server, ...choice }) => {
    showTapeReading()
    const counter = new CallCounter()
    let isRedacted = true
    const readers = await Promise.all(names.map((name) => openTape(resolveTape(name))))
    const paths = readers.length > 0 ? readers.map(({ path }) => path) : await chosenTapes(choice)
    for (const [at, path] of paths.entries()) {
      const tape = readers[at] ?? (await openTape(path))
      if (names.length > 0 && !isChosenTape({ started: tape.header.started, labels: tape.header }, choice))
        continue
      isRedacted &&= tape.header.redaction !== undefined
      const { exchanges } = await readOverview(
        server === undefined ? tape : await selectTapeServers(tape, server),
      )
      counter.add(exchanges)
    }
    const report = await renderReport('stats', json ? 'json' : 'text', counter.stats())
    await (json ? printChunks : printTable)(report, isRedacted ? String : createOutputRedactor())
  },
})
