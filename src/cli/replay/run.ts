import { writeFile } from 'node:fs/promises'
import { ReelayError } from '../../errors.ts'
import { ReplayController } from '../../replay/controller.ts'
import { liveSecrets } from '../../replay/session/live-secrets.ts'
import type { ReplayOptions } from '../../replay/options.ts'
import type { ServerRequestPolicy } from '../../replay/session/recorded-answers.ts'
import { replayRepeatedly, type RepeatOptions } from '../../replay/repeat/repeat.ts'
import type { RepeatedReport } from '../../replay/repeat/repeated-report.ts'
import { tapeBindings } from '../../replay/values/tape-bindings.ts'
import type { ReplayStep } from '../../replay/steps/step.ts'
import { replayAsJson } from '../../report/replay/replay-json.ts'
import { replayResults } from '../../report/replay/replay-results.ts'
import { replaySummaryText, stepAsText } from '../../report/replay/replay-text.ts'
import type { ReportRedactor } from '../../serve/redaction/report-redactor.ts'
import { resolveTape } from '../../store/home.ts'
import { openIndexedTape, type IndexedTape } from '../../store/index/indexed-tape.ts'
import { loadTape } from '../../store/file/read.ts'
import { joinedChunks, printChunks } from '../print-lines.ts'
import { print } from '../output/print.ts'
import { askOnTerminal } from './ask.ts'
import { createBeforeRun } from './before-run.ts'
import { readReplayOptions } from '../options/read-replay-options.ts'
import { printDryRun } from './dry-run.ts'
import type { ReplayFlags } from '../options/replay-options.ts'
import { pauseOnFailure } from './pause.ts'
import { readPositiveInteger, readChoice } from './read-flags.ts'
import { recordTarget, type RecordedTarget } from './recorded.ts'
import { redactReport, redactStep, createRunRedactor } from './redact-report.ts'
import { readSecretValues } from './secrets.ts'
import { requireInteractive, runStepped } from './interactive.ts'
import { readReplayTarget } from './target.ts'
import { acceptAnswers } from './update.ts'

export interface ReplayCall {
  readonly tape: string
  readonly command: readonly string[]
  readonly flags: ReplayFlags & { readonly record?: string; readonly update?: true }
  readonly repeat: { readonly text: string; readonly always: boolean }
}

/** Plays a tape against the live server that the command line names, tells of it, and sets the exit code. */
export async function runReplay(
  { tape: name, command, flags, repeat }: ReplayCall,
  stop: AbortSignal = abortReplayOnSignals(),
): Promise<void> {
  const { options, file } = readReplayOptions(flags)
  if (file !== undefined) process.stderr.write(`reelay: settings of this run come from ${file} too\n`)
  const tape = await openIndexedTape(resolveTape(name))
  try {
    await replayTape(tape, { command, flags, repeat, options, stop })
  } finally {
    tape.close()
  }
}

async function replayTape(
  tape: IndexedTape,
  {
    command,
    flags,
    repeat,
    options,
    stop,
  }: Omit<ReplayCall, 'tape'> & Pick<ReturnType<typeof readReplayOptions>, 'options'> & { stop: AbortSignal },
): Promise<void> {
  const baseline = flags.baseline === undefined ? undefined : await loadTape(resolveTape(flags.baseline))
  const correlate = flags.correlate && (await tapeBindings(tape, { ...flags, baseline }))
  if (flags.dryRun === true) return printDryRun(tape, { ...options, correlate }, flags)
  const isStepped = options.timing?.kind === 'stepped'
  if (isStepped) requireInteractive(flags)
  const given = readSecretValues(flags)
  const target = recordTarget(readReplayTarget(command, flags), {
    path: flags.record,
    command,
    secrets: given,
  })
  const secrets = liveSecrets(tape.header, { values: given })
  const signal = AbortSignal.any([stop]) // what listens to it goes with the run
  const controller = new ReplayController()
  const isWritten = [flags.json, flags.output, flags.results].some((one) => one !== undefined)
  const own = { correlate, ...(secrets && { secrets }), ...(isWritten && { keepTexts: Infinity }) }
  const onError = isStepped && options.onError === 'pause' ? 'continue' : (options.onError ?? 'continue')
  const run = {
    ...options,
    ...own,
    target: target.target,
    signal,
    controller,
    onAsk: readAskPolicy(flags, signal),
    onError,
  }
  const screen = createRunRedactor(secrets)
  const onStep = createStepListener(flags, run, screen)
  const runs = { ...repeatOptions(flags, repeat, signal), onStep, ...(baseline && { baseline }) }
  const played = isStepped
    ? runStepped((onStop) => replayRepeatedly(tape, run, { ...runs, onStop }), screen)
    : replayRepeatedly(tape, run, runs)
  const report = await closeTargetAfter(played, target)
  await writeReports(redactReport(report, screen), flags)
  const accepted = flags.update === true && (await acceptAnswers(tape, report))
  process.exitCode = signal.aborted ? 130 : accepted ? 0 : EXIT_CODES[report.summary.verdict]
}

/** The tape of a run that failed ends well, too. */
async function closeTargetAfter(
  report: Promise<RepeatedReport>,
  target: RecordedTarget,
): Promise<RepeatedReport> {
  try {
    return await report
  } finally {
    await target.close()
  }
}

function repeatOptions(
  { beforeRun: line }: ReplayFlags,
  { text, always }: ReplayCall['repeat'],
  stop: AbortSignal,
): RepeatOptions {
  const before = createBeforeRun(line, stop)
  return { repeat: readPositiveInteger('--repeat', text), always, ...(before && { beforeRun: before }) }
}

function createStepListener(
  { json }: ReplayFlags,
  { onError, controller }: Pick<ReplayOptions, 'onError'> & { controller: ReplayController },
  screen: ReportRedactor,
): NonNullable<RepeatOptions['onStep']> {
  const tellStep = json === true ? () => {} : stepPrinter(screen)
  const pause = onError === 'pause' ? pauseOnFailure(controller) : () => {}
  return (step, run) => {
    tellStep(step, run)
    pause(step)
  }
}

const EXIT_CODES: Readonly<Record<RepeatedReport['summary']['verdict'], 0 | 1 | 3>> = {
  pass: 0,
  fail: 1,
  incomplete: 3,
}

/** Each run of a tape has a heading of its own; most often there is one. */
function stepPrinter(screen: ReportRedactor): (step: ReplayStep, run: number) => void {
  let last = 1
  return (step, run) => {
    if (run !== last) print(`run ${run}:\n`)
    last = run
    print(`${stepAsText(redactStep(step, screen))}\n`)
  }
}

async function writeReports(report: RepeatedReport, { json, output, results }: ReplayFlags): Promise<void> {
  if (json === true) await printChunks(replayAsJson(report))
  else print(replaySummaryText(report))
  if (output !== undefined) await writeReportFile(output, replayAsJson(report))
  if (results !== undefined) await writeReportFile(results, replayResults(report))
}

async function writeReportFile(path: string, pieces: Iterable<string>): Promise<void> {
  try {
    await writeFile(path, joinedChunks(pieces), { mode: 0o600 })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const hint = 'check the folder; the report is printed all the same'
    throw new ReelayError('REPORT_UNWRITABLE', `the report cannot be written to ${path}: ${why}`, {
      hint,
      cause: error,
    })
  }
}

function readAskPolicy({ onAsk }: ReplayFlags, stop: AbortSignal): ServerRequestPolicy {
  const policy = readChoice('--on-ask', onAsk, ['decline', 'fail', 'ask'])
  return policy === 'ask' ? askOnTerminal(stop) : policy
}

/** Aborts with the name of the signal as its reason. */
export function abortReplayOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal))
  return stop.signal
}
