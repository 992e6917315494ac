import { Command } from 'commander'
import { jsonDocument, jsonValue } from '../report/json-text.ts'
import { selectTapeServers } from '../report/inspect/inspect.ts'
import { readOverview } from '../report/inspect/inspect-text.ts'
import { statsAsText, callStats } from '../report/stats.ts'
import { resolveTape } from '../store/home.ts'
import { openTape } from '../store/file/read.ts'
import { print } from './output/print.ts'
import { createOutputRedactor } from './output/redact-output.ts'

export const statsCommand: Command = new Command('stats')
  .description('count the calls of a tape: how many, how fast, how many failed')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--json', 'print the numbers as JSON')
  .option('--server <filter>', 'these servers only: names with commas between, * for anything')
  .action(async (name: string, { json, server }: { json?: true; server?: string }) => {
    const tape = await openTape(resolveTape(name))
    const { exchanges } = await readOverview(
      server === undefined ? tape : await selectTapeServers(tape, server),
    )
    const calls = callStats(exchanges)
    const text = json ? jsonDocument({ calls: calls.map(jsonValue) }) : statsAsText(calls)
    print(tape.header.redaction === undefined ? createOutputRedactor()(text) : text)
  })
