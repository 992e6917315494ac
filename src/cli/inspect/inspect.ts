import { defineCommand, type CommandDefinition } from '../command.ts'
import { messageFilterOption, seedOption } from '../options/live-options.ts'
import { option, usageError, type OptionTable, type ValueType } from '../options/option.ts'
import { fileValue, switchOn, textValue } from '../options/option-types.ts'
import { TAPE_ARGUMENT, jsonOption, serverFilter, sinceValue } from '../options/shared-options.ts'
import { readBindingsFile } from '../../bindings/bindings-file.ts'
import { findTapeBindings, type BindingsTape, type TapeBindings } from '../../report/bindings.ts'
import { readOverview } from '../../report/inspect/overview.ts'
import {
  filterInspection,
  inspectTape,
  selectTapeServers,
  type Inspection,
} from '../../report/inspect/inspect.ts'
import { renderReport } from '../../report/registry.ts'
import { withBindingsFilePath, readBindingsForTape } from '../../store/companion-files.ts'
import { exchangeSubject } from '../../report/exchanges.ts'
import { resolveTape } from '../../store/home.ts'
import { openIndexedTape } from '../../store/index/indexed-tape.ts'
import { openTape, readTape, type TapeReader } from '../../store/file/read.ts'
import { type FilterExpression, parseFilter } from '../../filter/filter.ts'
import { forecastFaults } from '../../faults/fault-rules.ts'
import { readFaultsFile } from '../serve/play-options.ts'
import { printChunks, printTable } from '../output/print.ts'
import { redactTapeForOutput } from '../output/redact-output.ts'
import { ReportOutput, reportOptions, type ReportFlags } from '../output/reports.ts'
import { showTapeReading } from '../output/progress.ts'
import { parseDuration, suggestName } from '../../text.ts'

/** Milliseconds since 1970, or after the start of the tape. */
type SinceTime = { readonly kind: 'moment' | 'offset'; readonly ms: number }

const sinceTime: ValueType<SinceTime> = {
  kind: 'value',
  name: 'time after',
  placeholder: 'time',
  expected: 'a date such as 2026-11-01T12:00, how long ago such as 10m, or +90s after the start of the tape',
  parse: (given, before) => {
    const offset = given.startsWith('+') ? parseDuration(given.slice(1)) : undefined
    if (offset !== undefined) return { kind: 'offset', ms: offset }
    const moment = sinceValue.parse(given, before)
    return moment === undefined ? undefined : { kind: 'moment', ms: moment }
  },
}

interface InspectFlags extends ReportFlags {
  readonly json?: true
  readonly verbose?: true
  readonly bindings?: true
  readonly bindingsFile?: true
  readonly server?: string
  readonly filter?: FilterExpression
  readonly errors?: true
  readonly tool?: string
  readonly since?: SinceTime
  readonly faults?: string
  readonly seed?: number
  /** The only exchange that is shown. */
  readonly exchange?: number
}

export const inspectCommand: CommandDefinition = defineCommand<Omit<InspectFlags, 'exchange'>>({
  name: 'inspect',
  arguments: {
    ...TAPE_ARGUMENT,
    '[exchange]': 'Number of an exchange to show in full, such as 38 or #38',
  },
  options: {
    server: serverFilter('Show only these servers'),
    filter: {
      ...messageFilterOption('--filter', 'Show only exchanges and messages that match'),
      conflicts: ['bindings', 'bindingsFile', 'faults'],
    },
    errors: option('--errors', switchOn, 'Show only exchanges that failed or got no response', {
      conflicts: ['bindings', 'bindingsFile', 'faults'],
    }),
    tool: option('--tool <name>', textValue, 'Show only calls of this tool, prompt or resource', {
      conflicts: ['bindings', 'bindingsFile', 'faults'],
    }),
    since: option(
      '--since',
      sinceTime,
      'Show only exchanges from then on: a date, how long ago (10m), or the time after the start (+90s)',
      { conflicts: ['bindings', 'bindingsFile', 'faults'] },
    ),
    verbose: option('-v, --verbose', switchOn, 'Show every message in full', {
      conflicts: ['json', 'bindings', 'bindingsFile', 'faults'],
    }),
    ...inspectReports(),
    json: jsonOption,
    bindings: option(
      '--bindings',
      switchOn,
      'Show the values that the server generated and the client sent back',
      { conflicts: ['bindingsFile', 'faults'] },
    ),
    bindingsFile: option(
      '--bindings-file',
      switchOn,
      'Print the bindings as YAML, for a bindings file next to the tape',
      { conflicts: ['json', 'faults'] },
    ),
    faults: option(
      '--faults',
      fileValue,
      'Show what the faults in this file, or of a preset, would do to the recorded requests',
    ),
    seed: { ...seedOption, needs: { faults: true } },
  },
  run: async ([name = '', exchange], given) => {
    const flags = exchange === undefined ? narrowed(given) : selectExchange(exchange, given)
    showTapeReading()
    const opened = await openTape(resolveTape(name))
    const { tape, text } = redactTapeForOutput(opened)
    // Bindings and faults depend on the real values.
    const read = showsMessages(flags) ? tape : { ...tape, batches: () => opened.batches() }
    const reader = flags.server === undefined ? read : await selectTapeServers(read, flags.server)
    if (flags.report !== undefined) return writeReports(reader, flags, text)
    const report = await renderTape(opened.path, reader, flags)
    await (isForPeople(flags) ? printTable(report, text) : printChunks(report, text))
  },
})

/** Messages in full are not cut at the width of the terminal. */
function isForPeople({ json, verbose, bindingsFile }: InspectFlags): boolean {
  return !json && !verbose && !bindingsFile
}

function inspectReports(): OptionTable<ReportFlags> {
  const { report, reportTokens } = reportOptions('inspection')
  return {
    report: { ...report, conflicts: ['json', 'verbose', 'bindings', 'bindingsFile', 'faults'] },
    reportTokens,
  }
}

async function writeReports(
  reader: TapeReader,
  flags: InspectFlags,
  redact: (text: string) => string,
): Promise<void> {
  const output = new ReportOutput('inspection', flags)
  await output.write(await readInspection(reader, flags), { command: 'inspect' }, redact)
}

/** `--errors` and `--tool` are short for filters. */
function narrowed(flags: InspectFlags): InspectFlags {
  const parts = [
    ...(flags.errors ? ['status:error,miss,unanswered,cut'] : []),
    ...(flags.tool === undefined ? [] : [`tool:${JSON.stringify(flags.tool)}`]),
  ]
  if (parts.length === 0) return flags
  const given =
    flags.filter === undefined || flags.filter.text.trim() === '' ? [] : [`(${flags.filter.text})`]
  return { ...flags, filter: parseFilter([...given, ...parts].join(' ')) }
}

/** One exchange is a filter that must match. */
function selectExchange(text: string, flags: InspectFlags): InspectFlags {
  const number = /^#?(\d{1,15})$/.exec(text)?.[1]
  if (number === undefined)
    throw usageError(
      `${JSON.stringify(text)} is not the number of an exchange`,
      'write it like 38 or #38; --filter shows several exchanges',
    )
  if (flags.filter !== undefined || !showsMessages(flags))
    throw usageError(
      'one exchange cannot be combined with --filter, --bindings, --bindings-file or --faults',
      `leave out ${number}`,
    )
  return {
    ...flags,
    exchange: Number(number),
    filter: parseFilter(`#${number}`),
    ...(!flags.json && flags.report === undefined && { verbose: true }),
  }
}

function showsMessages(flags: InspectFlags): boolean {
  return !showsBindings(flags) && flags.faults === undefined
}

function showsBindings({ bindings, bindingsFile }: InspectFlags): boolean {
  return bindings === true || bindingsFile === true
}

async function renderTape(path: string, reader: TapeReader, flags: InspectFlags): Promise<Iterable<string>> {
  const { json, verbose, bindingsFile, server, filter, since, faults, seed } = flags
  const format = json ? 'json' : 'text'
  if (showsBindings(flags)) {
    const found =
      server === undefined ? await bindingsInFile(path) : await readBindings(await readTape(reader))
    return renderReport('bindings', bindingsFile ? 'yaml' : format, found)
  }
  if (faults !== undefined) {
    const { turns } = await readTape(reader)
    return renderReport('faults', format, forecastFaults(turns, await readFaultsFile(faults), seed))
  }
  if (json || verbose || filter || since) {
    const inFull = verbose ? 'verbose' : 'text'
    return renderReport('inspection', json ? 'json' : inFull, await readInspection(reader, flags))
  }
  return renderReport('overview', 'text', await readOverview(reader)) // does not need the whole tape in memory
}

async function readInspection(
  reader: TapeReader,
  { filter, exchange, tool, since }: InspectFlags,
): Promise<Inspection> {
  const whole = inspectTape(await readTape(reader))
  const inspection = since === undefined ? whole : exchangesSince(whole, since)
  const shown = filter === undefined ? inspection : filterInspection(inspection, filter)
  if (exchange !== undefined && shown.exchanges.length === 0) {
    const last = inspection.exchanges.at(-1)?.sequence
    const numbers = last === undefined ? 'it has none' : `they are #1 to #${last}`
    throw usageError(
      `the tape has no exchange #${exchange}; ${numbers}`,
      'reelay inspect <tape> shows the numbers of the exchanges',
    )
  }
  if (filter !== undefined && shown.exchanges.length === 0 && shown.outside.length === 0)
    process.stderr.write(`reelay inspect: ${nothingMatches(inspection, { filter, tool })}\n`)
  return shown
}

/** An empty list could be a misspelled name. */
function nothingMatches(
  { exchanges }: Inspection,
  { filter, tool }: { readonly filter: FilterExpression; readonly tool: string | undefined },
): string {
  const count = exchanges.length === 1 ? 'the 1 exchange' : `the ${exchanges.length} exchanges`
  const none = `none of ${count} of the tape matches ${filter.text}`
  if (tool === undefined || tool.includes('*')) return none
  const known = new Set(exchanges.flatMap((each) => exchangeSubject(each).target ?? []))
  return known.has(tool) ? none : `${none}; the tape has no ${tool}${suggestName(tool, [...known])}`
}

function exchangesSince(inspection: Inspection, { kind, ms }: SinceTime): Inspection {
  const first = kind === 'offset' ? ms : ms - Date.parse(inspection.header.started)
  return {
    ...inspection,
    exchanges: inspection.exchanges.filter(({ request }) => request.t >= first),
  }
}

/** The tape may be larger than the memory. */
async function bindingsInFile(path: string): Promise<TapeBindings> {
  const tape = await openIndexedTape(path)
  try {
    return await readBindings(tape)
  } finally {
    tape.close()
  }
}

async function readBindings(tape: BindingsTape): Promise<TapeBindings> {
  const file = await readBindingsForTape(tape.path)
  return withBindingsFilePath(file?.path ?? '', () =>
    findTapeBindings(tape, file === undefined ? undefined : readBindingsFile(file.value)),
  )
}
