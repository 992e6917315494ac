import { Command } from 'commander'
import { forecastFaults, formatForecast } from '../faults/session-faults.ts'
import { readBindingsFile } from '../bindings/bindings-file.ts'
import {
  bindingsAsJson,
  bindingsAsText,
  bindingsAsYaml,
  bindingFacts,
  findTapeBindings,
  type BindingsTape,
} from '../report/bindings.ts'
import { inspectAsJson } from '../report/inspect/inspect-json.ts'
import { jsonDocument, jsonValue } from '../report/json-text.ts'
import { inspectAsText, overviewLines, readOverview } from '../report/inspect/inspect-text.ts'
import { inspectTape, selectTapeServers } from '../report/inspect/inspect.ts'
import { withBindingsFilePath, readBindingsForTape } from '../store/companion-files.ts'
import { resolveTape } from '../store/home.ts'
import { openIndexedTape } from '../store/index/indexed-tape.ts'
import { openTape, readTape, type Tape } from '../store/file/read.ts'
import { readSeed } from './options/serve-options.ts'
import { readFaultsFile } from './options/read-serve-options.ts'
import { printLines, print } from './output/print.ts'
import { redactTapeForOutput } from './output/redact-output.ts'

export const inspectCommand: Command = new Command('inspect')
  .description('show what a tape holds: who talked to whom, every exchange, errors, stderr, misses')
  .argument('<tape>', 'a tape name, or a path to a tape file')
  .option('--json', 'print everything as JSON')
  .option('-v, --verbose', 'show every message in full')
  .option('--bindings', 'show the values that the server made up and the client sent back')
  .option('--bindings-file', 'print these as YAML, to be edited and kept beside the tape')
  .option('--server <filter>', 'show these servers only: names with commas between, * for anything')
  .option('--faults <file>', 'show what the faults of this file would do to the recorded requests')
  .option('--seed <number>', 'the chance that --faults is to show, as in reelay serve', readSeed)
  .action(async (name: string, flags: InspectFlags) => {
    const opened = await openTape(resolveTape(name))
    const { tape, text } = redactTapeForOutput(opened)
    // What is bound, and what a fault is for, is told by values as they are.
    const read = showsMessages(flags) ? tape : { ...tape, batches: () => opened.batches() }
    const reader = flags.server === undefined ? read : await selectTapeServers(read, flags.server)
    if (showsOverview(flags)) return printLines(overviewLines(await readOverview(reader)), text)
    if (showsBindings(flags) && flags.server === undefined)
      return print(text(await indexedBindingsText(opened.path, flags)))
    print(text(await inspectOutput(await readTape(reader), flags)))
  })

function showsMessages(flags: InspectFlags): boolean {
  return !showsBindings(flags) && flags.faults === undefined
}

function showsBindings({ bindings, bindingsFile }: InspectFlags): boolean {
  return bindings === true || bindingsFile === true
}

/** Whether nothing is wanted that takes all of the tape at once. */
function showsOverview(flags: InspectFlags): boolean {
  return showsMessages(flags) && flags.json === undefined && flags.verbose === undefined
}

interface InspectFlags {
  readonly json?: true
  readonly verbose?: true
  readonly bindings?: true
  readonly bindingsFile?: true
  readonly server?: string
  readonly faults?: string
  readonly seed?: number
}

async function inspectOutput(tape: Tape, flags: InspectFlags): Promise<string> {
  if (showsBindings(flags)) return bindingsText(tape, flags)
  return flags.faults === undefined ? inspectionText(tape, flags) : faultsText(tape, flags.faults, flags)
}

async function faultsText(tape: Tape, file: string, { json, seed }: InspectFlags): Promise<string> {
  const forecast = forecastFaults(tape.turns, await readFaultsFile(file), seed)
  return json ? jsonDocument({ faults: forecast.map(jsonValue) }) : formatForecast(forecast)
}

/** Of a tape that may be larger than the memory. */
async function indexedBindingsText(path: string, flags: InspectFlags): Promise<string> {
  const tape = await openIndexedTape(path)
  try {
    return await bindingsText(tape, flags)
  } finally {
    tape.close()
  }
}

async function bindingsText(tape: BindingsTape, { json, bindingsFile }: InspectFlags): Promise<string> {
  const file = await readBindingsForTape(tape.path)
  const correlation = withBindingsFilePath(file?.path ?? '', () =>
    findTapeBindings(tape, file === undefined ? undefined : readBindingsFile(file.value)),
  )
  if (bindingsFile) return bindingsAsYaml(correlation.bindings)
  const facts = bindingFacts(tape, correlation)
  return json ? bindingsAsJson(facts) : bindingsAsText(facts)
}

function inspectionText(tape: Tape, { json, verbose }: InspectFlags): string {
  const inspection = inspectTape(tape)
  return json ? inspectAsJson(inspection) : inspectAsText(inspection, { verbose: verbose ?? false })
}
