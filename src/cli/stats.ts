import { Command } from 'commander'
import { jsonDocument, plain } from '../report/json-text.ts'
import { onlyServers } from '../report/only-servers.ts'
import { overviewOf } from '../report/overview.ts'
import { statsAsText } from '../report/stats-text.ts'
import { statsOf } from '../report/stats.ts'
import { resolveTape } from '../store/home.ts'
import { openTape } from '../store/read.ts'
import { print } from './print.ts'
import { withoutSecrets } from './without-secrets.ts'

export const statsCommand: Command = new Command('stats')
  .description('count the calls of a tape: how many, how fast, how many failed')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--json', 'print the numbers as JSON')
  .option('--server <filter>', 'these servers only: names with commas between, * for anything')
  .action(async (name: string, { json, server }: { json?: true; server?: string }) => {
    const tape = await openTape(resolveTape(name))
    const { exchanges } = await overviewOf(server === undefined ? tape : await onlyServers(tape, server))
    const calls = statsOf(exchanges)
    const text = json ? jsonDocument({ calls: calls.map(plain) }) : statsAsText(calls)
    print(tape.header.redaction === undefined ? withoutSecrets()(text) : text)
  })
