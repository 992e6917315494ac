import type { ReplayFlags } from '../options/replay-options.ts'
import { print } from '../output/print.ts'
import { ReportOutput } from '../output/reports.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import type { ReplayOptions } from '../../replay/options.ts'
import type { ReplayedTape } from '../../replay/plan/server-part.ts'
import { previewMessages, type ScheduledMessage } from '../../replay/preview.ts'
import type { RepeatedReport } from '../../replay/repeat/repeated-report.ts'
import type { LiveSecrets } from '../../replay/session/live-secrets.ts'
import type { ReplayStep, StepFinding } from '../../replay/steps/step.ts'
import type { CarriedBinding } from '../../replay/values/carried-values.ts'
import { toSerializable } from '../../report/json-text.ts'
import { heldCallsHint, isHandshakeStep } from '../../report/replay.ts'
import { REPORTS } from '../../report/registry.ts'
import {
  type ReportRedactor,
  createReportRedactor,
  reportRedactorFrom,
} from '../../serve/redaction/report-redactor.ts'
import { escapeControlChars } from '../../text.ts'

/** The reports that a run prints and writes: `-o file` is `--report json=file`. */
export class RunReports {
  readonly #output: ReportOutput<'replay'>
  readonly #isVerbose: boolean
  readonly #hasRows: boolean
  readonly #command: string
  /** Steps that differed in a run, by index. Their rows are printed after the last run, when it is known what is noise. */
  readonly #deferred = new Set<number>()

  /** `hasRows`: whether each step is printed as soon as it is complete. */
  constructor(flags: ReplayFlags, { hasRows, command }: { hasRows: boolean; command: string }) {
    const { output, results, verbose, quiet } = flags
    this.#isVerbose = verbose === true
    this.#hasRows = hasRows && quiet !== true
    this.#command = command
    this.#output = new ReportOutput('replay', flags, [
      ...(output === undefined ? [] : [['json', output] as const]),
      ...(results === undefined ? [] : [['results', results] as const]),
    ])
  }

  /** True if a report contains messages. */
  get needTexts(): boolean {
    return this.#output.needTexts
  }

  /**
   * Prints a step of the first run, if steps are printed and the format has a form for them. If there may be further runs, steps
   * that differ wait for the last one.
   */
  printStep(step: ReplayStep, { run, isOnlyRun, screen }: PrintedStep): void {
    if (!this.#hasRows || (isHandshakeStep(step) && !this.#isVerbose)) return
    if (!isOnlyRun && step.findings.length > 0) this.#deferred.add(step.index)
    else if (run === 1) this.#printRow(redactStep(step, screen))
  }

  /** The report is redacted already. */
  async write(report: RepeatedReport): Promise<void> {
    for (const index of [...this.#deferred].toSorted((a, b) => a - b)) {
      const step = report.steps.at(index)
      if (step !== undefined) this.#printRow(step, report.judgedRuns)
    }
    const options = { hasRows: !this.#hasRows, isVerbose: this.#isVerbose, command: this.#command }
    await this.#output.write(report, options, String)
  }

  #printRow(step: ReplayStep, judgedRuns = 1): void {
    const format = REPORTS.replay.find(({ name }) => name === this.#output.printed)
    if (format?.step === undefined) return
    const [first = '', ...rest] = format.step(step, judgedRuns).split('\n')
    const frame = this.#isVerbose ? `  frame ${step.frame}` : ''
    print(`${[`${first}${frame}`, ...rest].join('\n')}\n`)
  }
}

interface PrintedStep {
  readonly run: number
  /** True if there are no further runs. */
  readonly isOnlyRun: boolean
  readonly screen: ReportRedactor
}

/** Redacts the output of a run, with the placeholders of the tape if it has any. */
export function createRunRedactor(secrets: LiveSecrets | undefined): ReportRedactor {
  return secrets === undefined ? createReportRedactor() : reportRedactorFrom(secrets.hide)
}

/**
 * Redacts a report. This happens before values are shortened, so that no part of a secret is left. Steps are redacted when
 * they are read.
 */
export function redactReport(report: RepeatedReport, screen: ReportRedactor): RepeatedReport {
  const { summary, errors, notes, unstable, bindings, guesses, steps, stepsOfRuns, explained } = report
  return {
    ...report,
    summary: { ...summary, target: screen.text(summary.target) },
    steps: steps.transform((step) => redactStep(step, screen)),
    stepsOfRuns: stepsOfRuns.map((each) => each.transform((step) => redactStep(step, screen))),
    errors: errors.map((error) => ({ ...error, why: screen.text(error.why) })),
    notes: notes.map(screen.text),
    ...(explained && { explained: redactExplanation(explained, screen) }),
    unstable: unstable.map((each) => ({ ...each, finding: redactFinding(each.finding, screen) })),
    bindings: bindings.map((binding) => redactBinding(binding, screen)),
    guesses: guesses.map((binding) => redactBinding(binding, screen)),
  }
}

function redactStep(step: ReplayStep, screen: ReportRedactor): ReplayStep {
  const shown = (text: string | undefined): string | undefined => text && screen.text(text)
  return {
    ...step,
    why: shown(step.why),
    sent: shown(step.sent),
    answer: shown(step.answer),
    recordedAnswer: shown(step.recordedAnswer),
    ...(step.notifications !== undefined && { notifications: shown(step.notifications) }),
    findings: step.findings.map((finding) => redactFinding(finding, screen)),
  }
}

export function redactFinding(finding: StepFinding, screen: ReportRedactor): StepFinding {
  const { message, path = '', expected, actual } = finding
  const name = lastPathName(path)
  return {
    ...finding,
    message: screen.text(message),
    ...(expected !== undefined && { expected: screen.part(name, expected) }),
    ...(actual !== undefined && { actual: screen.part(name, actual) }),
  }
}

function redactExplanation(
  explained: NonNullable<RepeatedReport['explained']>,
  screen: ReportRedactor,
): NonNullable<RepeatedReport['explained']> {
  return {
    ...explained,
    differences: explained.differences.map((one) => {
      const shown = (value: unknown): unknown => screen.part(lastPathName(one.path), value)
      return {
        ...one,
        why: screen.text(one.why),
        ...(one.recorded !== undefined && { recorded: shown(one.recorded) }),
        live: one.live.map(({ run, value }) => ({
          run,
          ...(value !== undefined && { value: shown(value) }),
        })),
      }
    }),
  }
}

function redactBinding(binding: CarriedBinding, screen: ReportRedactor): CarriedBinding {
  const name = lastPathName(binding.from)
  const shown = (value: string | undefined): string => String(screen.part(name, value))
  return { ...binding, value: shown(binding.value), live: binding.live && shown(binding.live) }
}

/** The last name of a path, which may show that the value is a secret: `result.items[0].token`. */
function lastPathName(path: string): string {
  return /([\w-]+)(?:\[\d+\])*$/.exec(path)?.[1] ?? ''
}

/** Prints which messages would be sent, and why the others would not, judging tools by the tape. */
export async function printDryRun(
  tape: ReplayedTape,
  options: Omit<ReplayOptions, 'target'>,
  { json }: { readonly json?: true },
): Promise<void> {
  const messages = await previewMessages(tape, options)
  const shown = tape.header.redaction === undefined ? createOutputRedactor() : String
  if (json === true) return printDryRunJson(messages, shown)
  let held = 0
  const tools = new Set<string>()
  for (const message of messages) {
    print(`${escapeControlChars(shown(plannedMessageLine(message)))}\n`)
    if (message.fate.kind !== 'hold') continue
    held++
    if (message.tool !== undefined) tools.add(message.tool)
  }
  if (held > 0)
    print(
      `${escapeControlChars(heldCallsHint(held, [...tools]).replace(/(was|were) not/, 'would not be'))}\n`,
    )
}

/** Prints one message at a time, because those of a large tape do not fit into one string. */
function printDryRunJson(messages: Iterable<ScheduledMessage>, shown: (text: string) => string): void {
  let before = '{\n  "messages": ['
  for (const message of messages) {
    print(
      `${before}\n${shown(JSON.stringify(plannedMessageJson(message), null, 2)).replaceAll(/^/gm, '    ')}`,
    )
    before = ','
  }
  print(before === ',' ? '\n  ]\n}\n' : `${before}]\n}\n`)
}

function plannedMessageJson(message: ScheduledMessage): object {
  const { params } = message.message
  return { ...message, message: { ...message.message, params: toSerializable(params) } }
}

function plannedMessageLine({ exchange, message, tool, fate, dependencies }: ScheduledMessage): string {
  const name = tool === undefined ? message.method : `${message.method} ${tool}`
  const head = `${fate.kind.padEnd(5)} ${(exchange === undefined ? '' : `#${exchange}`).padStart(6)}  ${name}`
  if (fate.kind !== 'send') return `${head}   (${fate.why})`
  const { length } = dependencies
  return length === 0 ? head : `${head}   (after ${length} ${length === 1 ? 'answer' : 'answers'})`
}
