import { formatForecast, type FaultForecast } from '../faults/fault-rules.ts'
import type { RepeatedReport } from '../replay/repeat/repeated-report.ts'
import type { ReplayStep } from '../replay/steps/step.ts'
import { bindingsAsJson, bindingsAsText, bindingsAsYaml, type TapeBindings } from './bindings.ts'
import type { ContractCheck } from '../compare/check-contract.ts'
import type { CoverageReport } from '../compare/coverage.ts'
import type { TapeDiff } from '../compare/diff-tapes.ts'
import { coverageAsJson, coverageAsText } from './coverage.ts'
import {
  contractAsJson,
  contractAsText,
  diffAsJson,
  diffAsText,
  diffsAsJson,
  diffsAsText,
  type TapeDiffs,
} from './findings.ts'
import { inspectAsJson, type Inspection } from './inspect/inspect.ts'
import { inspectAsText } from './inspect/inspect-text.ts'
import { overviewAsText, type Overview } from './inspect/overview.ts'
import { listAsJson, listAsText, type TapeList } from './list.ts'
import { jsonDocument, jsonValue } from './json-text.ts'
import {
  replayAsJson,
  replayResults,
  replaySummaryText,
  stepAsText,
  type SummaryTextOptions,
} from './replay.ts'
import {
  contractDocument,
  coverageDocument,
  diffDocument,
  diffsDocument,
  inspectionDocument,
  loadDocument,
  replayDocument,
  type DocumentContext,
} from './documents.ts'
import { migrationAsJson, migrationAsText, migrationDocument, type TapeMigration } from './migration.ts'
import {
  variationsAsJson,
  variationsAsText,
  variationsDocument,
  type VariationReport,
} from './failures/variations.ts'
import type { ReportDocument } from './document.ts'
import { DOCUMENT_FORMATS } from './formats/index.ts'
import { loadAsJson, loadAsText, type LoadReport } from './load.ts'
import {
  contractPage,
  coveragePage,
  diffPage,
  diffsPage,
  inspectionPage,
  loadPage,
  migrationPage,
  variationsPage,
  replayPage,
  type MakePage,
} from './page/pages.ts'
import { statsAsText, type CallStats } from './stats.ts'

/** The input of the reports of each subject. */
export interface ReportInputs {
  readonly replay: RepeatedReport
  readonly inspection: Inspection
  readonly overview: Overview
  readonly bindings: TapeBindings
  readonly faults: readonly FaultForecast[]
  readonly stats: readonly CallStats[]
  readonly list: TapeList
  readonly diff: TapeDiff
  readonly diffs: TapeDiffs
  readonly contract: ContractCheck
  readonly coverage: CoverageReport
  readonly migration: TapeMigration
  readonly variations: VariationReport
  readonly load: LoadReport
}

/** What a report needs to know besides the result. */
export interface RenderOptions extends SummaryTextOptions, Partial<DocumentContext> {
  /** The limit of the report for coding agents. */
  readonly maxTokens?: number | undefined
  /** Reads the page without data, for the HTML report. */
  readonly page?: () => string
  /** Replaces secrets, in formats that cannot be redacted afterwards. */
  readonly redact?: (text: string) => string
}

interface ReportFormat<Input> {
  readonly name: string
  readonly help: string
  /** Set if the report contains messages, which a long run keeps only on request. */
  readonly needsTexts?: true
  /** Prints a step as soon as it is complete, before the report itself. */
  readonly step?: (step: ReplayStep, judgedRuns?: number) => string
  /** Set if the report redacts itself, because it is compressed. */
  readonly isRedacted?: true
  /** The report as one text, or in chunks if it may be too long for one. */
  readonly render: (
    input: Input,
    options?: RenderOptions,
  ) => Iterable<string> | Promise<string | Iterable<string>>
}

type ReportFormats = {
  readonly [Subject in keyof ReportInputs]: readonly ReportFormat<ReportInputs[Subject]>[]
}

/** Every report format, the default of each subject first. */
export const REPORTS: ReportFormats = {
  replay: [
    {
      name: 'text',
      help: 'the steps that differ, then a summary',
      step: stepAsText,
      render: replaySummaryText,
    },
    { name: 'json', help: 'schema/replay-report-1.json', needsTexts: true, render: replayAsJson },
    { name: 'results', help: 'each request with its response', needsTexts: true, render: replayResults },
    ...documentFormats(replayDocument, replayPage),
  ],
  overview: [{ name: 'text', help: 'a line for each exchange', render: overviewAsText }],
  inspection: [
    {
      name: 'text',
      help: 'a line for each exchange',
      render: (inspection) => inspectAsText(inspection, { verbose: false }),
    },
    { name: 'verbose', help: 'every message in full', render: (inspection) => inspectAsText(inspection) },
    { name: 'json', help: 'everything on the tape', render: inspectAsJson },
    ...documentFormats(inspectionDocument, inspectionPage),
  ],
  bindings: [
    { name: 'text', help: 'each value, where it came from and where it went', render: bindingsAsText },
    { name: 'json', help: 'the same for programs', render: bindingsAsJson },
    { name: 'yaml', help: 'a bindings file', render: bindingsAsYaml },
  ],
  faults: [
    { name: 'text', help: 'a line for each fault', render: formatForecast },
    { name: 'json', help: 'the same for programs', render: listAsDocument('faults') },
  ],
  stats: [
    { name: 'text', help: 'a line for each call', render: statsAsText },
    { name: 'json', help: 'the same for programs', render: listAsDocument('calls') },
  ],
  list: [
    { name: 'text', help: 'a line for each tape', render: listAsText },
    { name: 'json', help: 'the same for programs', render: listAsJson },
  ],
  diff: [
    { name: 'text', help: 'what changed, the worst first', render: diffAsText },
    { name: 'json', help: 'schema/diff-report-1.json', render: diffAsJson },
    ...documentFormats(diffDocument, diffPage),
  ],
  contract: [
    { name: 'text', help: 'what breaks first', render: contractAsText },
    { name: 'json', help: 'schema/contract-report-1.json', render: contractAsJson },
    ...documentFormats(contractDocument, contractPage),
  ],
  coverage: [
    { name: 'text', help: 'what is covered, and the calls that would fill the gaps', render: coverageAsText },
    { name: 'json', help: 'schema/coverage-report-1.json', render: coverageAsJson },
    ...documentFormats(coverageDocument, coveragePage),
  ],

  migration: [
    { name: 'text', help: 'a checklist by rule', render: migrationAsText },
    { name: 'json', help: 'the class and the rules of each exchange', render: migrationAsJson },
    ...documentFormats(migrationDocument, migrationPage),
  ],
  variations: [
    { name: 'text', help: 'each failure, what was varied and how to run it again', render: variationsAsText },
    { name: 'json', help: 'the same for programs', render: variationsAsJson },
    ...documentFormats(variationsDocument, variationsPage),
  ],
  load: [
    { name: 'text', help: 'a table of calls, then what the figures mean', render: loadAsText },
    { name: 'json', help: 'schema/load-report-1.json', render: loadAsJson },
    ...documentFormats(loadDocument, loadPage),
  ],
  diffs: [
    { name: 'text', help: 'the differences of each pair of tapes, then a summary', render: diffsAsText },
    { name: 'json', help: 'schema/diff-report-1.json, a list of reports', render: diffsAsJson },
    ...documentFormats(diffsDocument, diffsPage),
  ],
}

/** Renders a report in chunks. */
export async function renderReport<Subject extends keyof ReportInputs>(
  subject: Subject,
  name: string,
  input: ReportInputs[Subject],
  options?: RenderOptions,
): Promise<Iterable<string>> {
  const format = REPORTS[subject].find((each) => each.name === name)
  if (format === undefined) throw new Error(`there is no report ${name} of ${subject}`)
  const rendered = await format.render(input, options)
  const chunks = typeof rendered === 'string' ? [rendered] : rendered
  const redact = format.isRedacted ? undefined : options?.redact
  return redact === undefined ? chunks : redactedChunks(chunks, redact)
}

function listAsDocument(member: string): (items: readonly unknown[]) => string {
  return (items) => jsonDocument({ [member]: items.map(jsonValue) })
}

/** The formats that every subject has that can be told as a document. */
function documentFormats<Input>(
  toDocument: (input: Input, context: DocumentContext) => ReportDocument,
  toPage: MakePage<Input>,
): readonly ReportFormat<Input>[] {
  const formats: readonly ReportFormat<Input>[] = DOCUMENT_FORMATS.map(({ name, help, render }) => ({
    name,
    help,
    render: (input, options = {}) => {
      const { command = '', commandLine = '', maxTokens = DEFAULT_TOKENS } = options
      return render(toDocument(input, { ...options, command, commandLine }), { maxTokens })
    },
  }))
  const html: ReportFormat<Input> = {
    name: 'html',
    help: 'one HTML file with a timeline, which needs nothing else',
    needsTexts: true,
    isRedacted: true,
    render: (input, options = {}) => {
      const { command = '', commandLine = '', page = () => '', redact = String } = options
      return toPage(input, { ...options, command, commandLine }, { page: page(), redact })
    },
  }
  return [html, ...formats]
}

export const DEFAULT_TOKENS = 2000

const BLOCK_CHARACTERS = 1024 * 1024

/** Redacts blocks of at least a megabyte, because a secret must not lie across two chunks. */
function* redactedChunks(chunks: Iterable<string>, redact: (text: string) => string): Generator<string> {
  let block = ''
  for (const chunk of chunks) {
    block += chunk
    if (block.length < BLOCK_CHARACTERS) continue
    yield redact(block)
    block = ''
  }
  if (block !== '') yield redact(block)
}
