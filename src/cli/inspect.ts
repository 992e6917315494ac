import { defineCommand, type CommandDefinition } from './command.ts'
import { seedOption } from './options/live-options.ts'
import { option } from './options/option.ts'
import { fileValue, switchOn } from './options/option-types.ts'
import { TAPE_ARGUMENT, jsonOption, serverFilter } from './options/shared-options.ts'
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
import { forecastFaults, formatForecast } from '../faults/session-faults.ts'
import { readFaultsFile } from './serve/play-options.ts'
import { printLines, print } from './output/print.ts'
import { redactTapeForOutput } from './output/redact-output.ts'

interface InspectFlags {
  readonly json?: true
  readonly verbose?: true
  readonly bindings?: true
  readonly bindingsFile?: true
  readonly server?: string
  readonly faults?: string
  readonly seed?: number
}

export const inspectCommand: CommandDefinition = defineCommand<InspectFlags>({
  name: 'inspect',
  help: 'Show the contents of a tape: connections, exchanges, errors, stderr and misses',
  arguments: TAPE_ARGUMENT,
  options: {
    server: serverFilter('Show only these servers'),
    verbose: option('-v, --verbose', switchOn, 'Show every message in full', {
      conflicts: ['json', 'bindings', 'bindingsFile', 'faults'],
    }),
    json: jsonOption,
    bindings: option(
      '--bindings',
      switchOn,
      'Show the values that the server created and the client sent back',
      { conflicts: ['bindingsFile', 'faults'] },
    ),
    bindingsFile: option(
      '--bindings-file',
      switchOn,
      'Print these bindings as YAML, for a bindings file beside the tape',
      { conflicts: ['json', 'faults'] },
    ),
    faults: option(
      '--faults',
      fileValue,
      'Show what the faults in this file would do to the recorded requests',
    ),
    seed: { ...seedOption, needs: { faults: true } },
  },
  run: async ([name = ''], flags) => {
    const opened = await openTape(resolveTape(name))
    const { tape, text } = redactTapeForOutput(opened)
    // Bindings and faults depend on the real values.
    const read = showsMessages(flags) ? tape : { ...tape, batches: () => opened.batches() }
    const reader = flags.server === undefined ? read : await selectTapeServers(read, flags.server)
    if (showsOverview(flags)) return printLines(overviewLines(await readOverview(reader)), text)
    if (showsBindings(flags) && flags.server === undefined)
      return print(text(await indexedBindingsText(opened.path, flags)))
    print(text(await inspectOutput(await readTape(reader), flags)))
  },
})

function showsMessages(flags: InspectFlags): boolean {
  return !showsBindings(flags) && flags.faults === undefined
}

function showsBindings({ bindings, bindingsFile }: InspectFlags): boolean {
  return bindings === true || bindingsFile === true
}

/** The overview is the only output that does not need the whole tape in memory. */
function showsOverview(flags: InspectFlags): boolean {
  return showsMessages(flags) && flags.json === undefined && flags.verbose === undefined
}

async function inspectOutput(tape: Tape, flags: InspectFlags): Promise<string> {
  if (showsBindings(flags)) return bindingsText(tape, flags)
  return flags.faults === undefined ? inspectionText(tape, flags) : faultsText(tape, flags.faults, flags)
}

async function faultsText(tape: Tape, file: string, { json, seed }: InspectFlags): Promise<string> {
  const forecast = forecastFaults(tape.turns, await readFaultsFile(file), seed)
  return json ? jsonDocument({ faults: forecast.map(jsonValue) }) : formatForecast(forecast)
}

/** The tape may be larger than the memory. */
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
