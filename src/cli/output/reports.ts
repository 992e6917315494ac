import { readFileSync } from 'node:fs'
import { errorMessage, ReelayError } from '../../errors.ts'
import {
  DEFAULT_TOKENS,
  REPORTS,
  renderReport,
  type RenderOptions,
  type ReportInputs,
} from '../../report/registry.ts'
import { writeOwnFile } from '../../store/file/replace-file.ts'
import { quoteShellWord } from '../../text.ts'
import { option, usageError, type OptionTable, type ValueType } from '../options/option.ts'
import { countValue, listOf } from '../options/option-types.ts'
import { joinedChunks, printChunks, printReport } from './print.ts'
import { createOutputRedactor } from './redact-output.ts'

/** A report format, and the file that it is written to; without a file it is printed. */
export type ReportRequest = readonly [format: string, path?: string]

export interface ReportFlags {
  readonly report?: readonly ReportRequest[]
  readonly reportTokens?: number
}

type ReportSubject = keyof ReportInputs

/** `--report`, which every command that judges has. */
export function reportOptions(subject: ReportSubject): OptionTable<ReportFlags> {
  const names = REPORTS[subject].map(({ name }) => name)
  return {
    report: option(
      '--report',
      listOf(reportRequest(names)),
      `Print the report in this format, or write it to a file (repeatable): ${names.join(', ')}`,
      { default: 'text' },
    ),
    reportTokens: option(
      '--report-tokens',
      countValue(),
      'Limit the length of the report for coding agents to this many tokens',
      { default: String(DEFAULT_TOKENS), needs: { report: true } },
    ),
  }
}

function reportRequest(formats: readonly string[]): ValueType<ReportRequest> {
  return {
    kind: 'value',
    name: 'report',
    placeholder: 'format[=file]',
    expected: `${formats.join(', ')}, or a format and a file such as json=report.json`,
    parse: (given) => {
      const [, format = '', path] = /^([^=]+)(?:=(.+))?$/s.exec(given) ?? []
      if (!formats.includes(format)) return undefined
      return path === undefined ? [format] : [format, path]
    },
  }
}

interface RequestedReports extends ReportFlags {
  readonly json?: true
  readonly quiet?: true
}

/** The reports of one run: at most one is printed, the others are written to files. `--json` is `--report json`. */
export class ReportOutput<Subject extends ReportSubject> {
  readonly printed: string
  readonly #subject: Subject
  readonly #written: readonly (readonly [format: string, path: string])[]
  readonly #isQuiet: boolean
  readonly #maxTokens: number | undefined

  constructor(
    subject: Subject,
    { report = [], json, quiet, reportTokens }: RequestedReports,
    moreFiles: readonly (readonly [format: string, path: string])[] = [],
  ) {
    const printed = new Set([
      ...(json ? ['json'] : []),
      ...report.flatMap(([format, path]) => (path === undefined ? [format] : [])),
    ])
    if (printed.size > 1)
      throw usageError(
        `only one report can be printed, not ${[...printed].join(' and ')}`,
        'write the others to files: --report <format>=<file>',
      )
    if (quiet && printed.size > 0)
      throw usageError('--quiet prints nothing', 'write the report to a file: --report <format>=<file>')
    this.#subject = subject
    this.printed = [...printed][0] ?? 'text'
    this.#isQuiet = quiet === true
    this.#maxTokens = reportTokens
    this.#written = [
      ...report.flatMap(([format, path]) => (path === undefined ? [] : [[format, path] as const])),
      ...moreFiles,
    ]
  }

  /** True if a report contains messages. */
  get needTexts(): boolean {
    const names = [this.printed, ...this.#written.map(([format]) => format)]
    return REPORTS[this.#subject].some(({ name, needsTexts }) => needsTexts && names.includes(name))
  }

  /** True if only the text for people is wanted. */
  get isPlain(): boolean {
    return this.printed === 'text' && this.#written.length === 0
  }

  /** Prints the report and writes the files. `redact` replaces secrets in texts that are not redacted yet. */
  async write(
    input: ReportInputs[Subject],
    options: RenderOptions = {},
    redact: (text: string) => string = createOutputRedactor(),
  ): Promise<void> {
    const context = {
      ...options,
      commandLine: commandLineOf(process.argv),
      maxTokens: this.#maxTokens,
      page: () => readFileSync(PAGE, 'utf8'),
      redact,
    }
    const write = this.printed === 'text' ? printReport : printChunks
    if (!this.#isQuiet) await write(await renderReport(this.#subject, this.printed, input, context))
    for (const [format, path] of this.#written)
      await writeReport(path, await renderReport(this.#subject, format, input, { ...context, hasRows: true }))
  }
}

/** The page of the HTML report. The program is packed into `dist/cli`. */
const PAGE = new URL('../ui/report.html', import.meta.url)

/** The command line without the reports, quoted for a shell. */
function commandLineOf(argv: readonly string[]): string {
  const words = argv.slice(2)
  const end = words.includes('--') ? words.indexOf('--') : words.length
  const kept = words.filter((word, at) => {
    if (at >= end) return true
    const isValue = /^--report(?:-tokens)?$/.test(words[at - 1] ?? '')
    return !isValue && !/^--report(?:-tokens)?(?:=|$)/.test(word)
  })
  return ['reelay', ...kept].map(quoteShellWord).join(' ')
}

async function writeReport(path: string, chunks: Iterable<string>): Promise<void> {
  try {
    await writeOwnFile(path, joinedChunks(chunks))
  } catch (cause) {
    const why = errorMessage(cause)
    throw new ReelayError('REPORT_UNWRITABLE', `the report cannot be written to ${path}: ${why}`, {
      hint: 'check the folder; the report on stdout is complete',
      cause,
    })
  }
}
