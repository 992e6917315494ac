import { Command } from 'commander'
import { inspectAsJson } from '../report/inspect-json.ts'
import { inspectAsText } from '../report/inspect-text.ts'
import { inspectTape } from '../report/inspect.ts'
import { resolveTape } from '../store/home.ts'
import { loadTape } from '../store/read.ts'
import { print } from './print.ts'

export const inspectCommand: Command = new Command('inspect')
  .description('show what a tape holds: who talked to whom, every exchange, errors, stderr, misses')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--json', 'print everything as JSON')
  .option('-v, --verbose', 'show every message in full')
  .action(async (tape: string, { json, verbose }: { json?: true; verbose?: true }) => {
    const inspection = inspectTape(await loadTape(resolveTape(tape)))
    const text = json ? inspectAsJson(inspection) : inspectAsText(inspection, { verbose: verbose ?? false })
    print(text)
  })
