import { Command } from 'commander'
import { inspectAsJson } from '../report/inspect-json.ts'
import { jsonDocument, plain } from '../report/json-text.ts'
import { inspectAsText } from '../report/inspect-text.ts'
import { inspectTape } from '../report/inspect.ts'
import { onlyServers } from '../report/only-servers.ts'
import { resolveTape } from '../store/home.ts'
import { loadTape } from '../store/read.ts'
import { forecastAsText, forecastFaults } from '../serve/fault-forecast.ts'
import { readFaultsFile, readSeed } from './play-flags.ts'
import { print } from './print.ts'
import { withoutSecretsOf } from './without-secrets.ts'

export const inspectCommand: Command = new Command('inspect')
  .description('show what a tape holds: who talked to whom, every exchange, errors, stderr, misses')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--json', 'print everything as JSON')
  .option('-v, --verbose', 'show every message in full')
  .option('--server <filter>', 'show these servers only: names with commas between, * for anything')
  .option('--faults <file>', 'show what the faults of this file would do to the recorded requests')
  .option('--seed <number>', 'the chance that --faults is to show, as in reelay serve', readSeed)
  .action(async (name: string, { json, verbose, server, faults, seed }: InspectFlags) => {
    const whole = await loadTape(resolveTape(name))
    const tape = server === undefined ? whole : onlyServers(whole, server)
    if (faults !== undefined) {
      const forecast = forecastFaults(tape.turns, await readFaultsFile(faults), seed)
      return print(json ? jsonDocument({ faults: forecast.map(plain) }) : forecastAsText(forecast))
    }
    const inspection = inspectTape(tape)
    const text = json ? inspectAsJson(inspection) : inspectAsText(inspection, { verbose: verbose ?? false })
    print(withoutSecretsOf(tape.header)(text))
  })

interface InspectFlags {
  readonly json?: true
  readonly verbose?: true
  readonly server?: string
  readonly faults?: string
  readonly seed?: number
}
