import { writeFile } from 'node:fs/promises'
import { ReelayError } from '../../errors.ts'
import type { RepeatedReport } from '../../replay/repeat/repeated-report.ts'
import type { ReplayStep } from '../../replay/steps/step.ts'
import { REPORTS, renderReport } from '../../report/registry.ts'
import type { ReportRedactor } from '../../serve/redaction/report-redactor.ts'
import { usageError } from '../options/option.ts'
import type { ReplayFlags } from '../options/replay-options.ts'
import { joinedChunks, print, printChunks } from '../output/print.ts'
import { redactStep } from './redact-report.ts'

/** The reports that a run prints and writes: `--json` is `--report json`, `-o file` is `--report json=file`. */
export class RunReports {
  readonly #printed: string
  readonly #written: readonly (readonly [format: string, path: string])[]
  #lastRun = 1

  constructor({ report = [], json, output, results }: ReplayFlags) {
    const printed = new Set([
      ...(json ? ['json'] : []),
      ...report.flatMap(([format, path]) => (path === undefined ? [format] : [])),
    ])
    if (printed.size > 1)
      throw usageError(
        `only one report can be printed, not ${[...printed].join(' and ')}`,
        'write the others to files: --report <format>=<file>',
      )
    this.#printed = [...printed][0] ?? 'text'
    this.#written = [
      ...report.flatMap(([format, path]) => (path === undefined ? [] : [[format, path] as const])),
      ...(output === undefined ? [] : [['json', output] as const]),
      ...(results === undefined ? [] : [['results', results] as const]),
    ]
  }

  /** True if a report contains messages. */
  get needTexts(): boolean {
    const names = [this.#printed, ...this.#written.map(([format]) => format)]
    return REPORTS.replay.some(({ name, needsTexts }) => needsTexts && names.includes(name))
  }

  /** Prints a step, if the printed format has a form for steps. Each run after the first has a heading. */
  printStep(step: ReplayStep, run: number, screen: ReportRedactor): void {
    const format = REPORTS.replay.find(({ name }) => name === this.#printed)
    if (format?.step === undefined) return
    if (run !== this.#lastRun) print(`run ${run}:\n`)
    this.#lastRun = run
    print(`${format.step(redactStep(step, screen))}\n`)
  }

  async write(report: RepeatedReport): Promise<void> {
    await printChunks(await renderReport('replay', this.#printed, report))
    for (const [format, path] of this.#written)
      await writeReport(path, await renderReport('replay', format, report))
  }
}

async function writeReport(path: string, chunks: Iterable<string>): Promise<void> {
  try {
    await writeFile(path, joinedChunks(chunks), { mode: 0o600 })
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new ReelayError('REPORT_UNWRITABLE', `the report cannot be written to ${path}: ${why}`, {
      hint: 'check the folder; the report on stdout is complete',
      cause,
    })
  }
}
