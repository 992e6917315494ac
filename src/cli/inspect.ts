import { Command } from 'commander'
import { inspectAsJson } from '../report/inspect-json.ts'
import { inspectAsText } from '../report/inspect-text.ts'
import { inspectTape } from '../report/inspect.ts'
import { onlyServers } from '../report/only-servers.ts'
import { resolveTape } from '../store/home.ts'
import { loadTape } from '../store/read.ts'
import { print } from './print.ts'
import { withoutSecretsOf } from './without-secrets.ts'

export const inspectCommand: Command = new Command('inspect')
  .description('show what a tape holds: who talked to whom, every exchange, errors, stderr, misses')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--json', 'print everything as JSON')
  .option('-v, --verbose', 'show every message in full')
  .option('--server <filter>', 'show these servers only: names with commas between, * for anything')
  .action(async (name: string, { json, verbose, server }: InspectFlags) => {
    const tape = await loadTape(resolveTape(name))
    const inspection = inspectTape(server === undefined ? tape : onlyServers(tape, server))
    const text = json ? inspectAsJson(inspection) : inspectAsText(inspection, { verbose: verbose ?? false })
    print(withoutSecretsOf(tape.header)(text))
  })

interface InspectFlags {
  readonly json?: true
  readonly verbose?: true
  readonly server?: string
}
