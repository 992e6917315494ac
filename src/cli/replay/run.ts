import { writeFile } from 'node:fs/promises'
import { ReelayError } from '../../errors.ts'
import { Controller } from '../../replay/controller.ts'
import { liveSecrets } from '../../replay/live-secrets.ts'
import type { ReplayOptions } from '../../replay/options.ts'
import type { AskPolicy } from '../../replay/recorded-answers.ts'
import { replayRepeatedly, type RepeatOptions } from '../../replay/repeat.ts'
import type { RepeatedReport } from '../../replay/repeated-report.ts'
import { tapeBindings } from '../../replay/tape-bindings.ts'
import type { StepResult } from '../../replay/step-result.ts'
import { replayAsJson } from '../../report/replay-json.ts'
import { replayResults } from '../../report/replay-results.ts'
import { replaySummaryText, stepAsText } from '../../report/replay-text.ts'
import type { Screen } from '../../serve/screen.ts'
import { resolveTape } from '../../store/home.ts'
import { openIndexedTape, type IndexedTape } from '../../store/indexed-tape.ts'
import { loadTape } from '../../store/read.ts'
import { blocksOf, printPieces } from '../print-lines.ts'
import { print } from '../print.ts'
import { askOnTerminal } from './ask.ts'
import { beforeRun } from './before-run.ts'
import { configured } from './configured.ts'
import { showPlan } from './dry-run.ts'
import type { ReplayFlags } from './flags.ts'
import { onFailedStep } from './pause.ts'
import { atLeastOne, choice } from './read-flags.ts'
import { recorded, type RecordedTarget } from './recorded.ts'
import { screenedReport, screenedStep, screenOfRun } from './screened.ts'
import { readSecrets } from './secrets.ts'
import { requireSomebody, stepping } from './stepping.ts'
import { readTarget } from './target.ts'
import { updateTape } from './update.ts'

export interface ReplayCall {
  readonly tape: string
  readonly command: readonly string[]
  readonly flags: ReplayFlags & { readonly record?: string; readonly update?: true }
  readonly repeat: { readonly text: string; readonly always: boolean }
}

/** Plays a tape against the live server that the command line names, tells of it, and sets the exit code. */
export async function runReplay(
  { tape: name, command, flags, repeat }: ReplayCall,
  stop: AbortSignal = stopOnSignals(),
): Promise<void> {
  const { options, file } = configured(flags)
  if (file !== undefined) process.stderr.write(`reelay: settings of this run come from ${file} too\n`)
  const tape = await openIndexedTape(resolveTape(name))
  try {
    await replayed(tape, { command, flags, repeat, options, stop })
  } finally {
    tape.close()
  }
}

async function replayed(
  tape: IndexedTape,
  {
    command,
    flags,
    repeat,
    options,
    stop,
  }: Omit<ReplayCall, 'tape'> & Pick<ReturnType<typeof configured>, 'options'> & { stop: AbortSignal },
): Promise<void> {
  const baseline = flags.baseline === undefined ? undefined : await loadTape(resolveTape(flags.baseline))
  const correlate = flags.correlate && (await tapeBindings(tape, { ...flags, baseline }))
  if (flags.dryRun === true) return showPlan(tape, { ...options, correlate }, flags)
  const isStepped = options.timing?.kind === 'stepped'
  if (isStepped) requireSomebody(flags)
  const given = readSecrets(flags)
  const target = recorded(readTarget(command, flags), { path: flags.record, command, secrets: given })
  const secrets = liveSecrets(tape.header, { values: given })
  const signal = AbortSignal.any([stop]) // what listens to it goes with the run
  const controller = new Controller()
  const isWritten = [flags.json, flags.output, flags.results].some((one) => one !== undefined)
  const own = { correlate, ...(secrets && { secrets }), ...(isWritten && { keepTexts: Infinity }) }
  const onError = isStepped && options.onError === 'pause' ? 'continue' : (options.onError ?? 'continue')
  const run = {
    ...options,
    ...own,
    target: target.target,
    signal,
    controller,
    onAsk: readAsk(flags),
    onError,
  }
  const screen = screenOfRun(secrets)
  const onStep = stepWatcher(flags, run, screen)
  const runs = { ...runsOf(flags, repeat), onStep, ...(baseline && { baseline }) }
  const played = isStepped
    ? stepping((onStop) => replayRepeatedly(tape, run, { ...runs, onStop }), screen)
    : replayRepeatedly(tape, run, runs)
  const report = await untilClosed(played, target)
  await tell(screenedReport(report, screen), flags)
  const accepted = flags.update === true && (await updateTape(tape, report))
  process.exitCode = signal.aborted ? 130 : accepted ? 0 : EXIT[report.summary.verdict]
}

/** The tape of a run that failed ends well, too. */
async function untilClosed(report: Promise<RepeatedReport>, target: RecordedTarget): Promise<RepeatedReport> {
  try {
    return await report
  } finally {
    await target.close()
  }
}

function runsOf({ beforeRun: line }: ReplayFlags, { text, always }: ReplayCall['repeat']): RepeatOptions {
  const before = beforeRun(line)
  return { repeat: atLeastOne('--repeat', text), always, ...(before && { beforeRun: before }) }
}

function stepWatcher(
  { json }: ReplayFlags,
  { onError, controller }: Pick<ReplayOptions, 'onError'> & { controller: Controller },
  screen: Screen,
): NonNullable<RepeatOptions['onStep']> {
  const tellStep = json === true ? () => {} : tellSteps(screen)
  const pause = onError === 'pause' ? onFailedStep(controller) : () => {}
  return (step, run) => {
    tellStep(step, run)
    pause(step)
  }
}

const EXIT: Readonly<Record<RepeatedReport['summary']['verdict'], 0 | 1 | 3>> = {
  pass: 0,
  fail: 1,
  incomplete: 3,
}

/** Each run of a tape has a heading of its own; most often there is one. */
function tellSteps(screen: Screen): (step: StepResult, run: number) => void {
  let last = 1
  return (step, run) => {
    if (run !== last) print(`run ${run}:\n`)
    last = run
    print(`${stepAsText(screenedStep(step, screen))}\n`)
  }
}

async function tell(report: RepeatedReport, { json, output, results }: ReplayFlags): Promise<void> {
  if (json === true) await printPieces(replayAsJson(report))
  else print(replaySummaryText(report))
  if (output !== undefined) await writeReport(output, replayAsJson(report))
  if (results !== undefined) await writeReport(results, replayResults(report))
}

async function writeReport(path: string, pieces: Iterable<string>): Promise<void> {
  try {
    await writeFile(path, blocksOf(pieces), { mode: 0o600 })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const hint = 'check the folder; the report is printed all the same'
    throw new ReelayError('REPORT_UNWRITABLE', `the report cannot be written to ${path}: ${why}`, {
      hint,
      cause: error,
    })
  }
}

function readAsk({ onAsk }: ReplayFlags): AskPolicy {
  const policy = choice('--on-ask', onAsk, ['decline', 'fail', 'ask'])
  return policy === 'ask' ? askOnTerminal() : policy
}

/** Aborts with the name of the signal as its reason. */
export function stopOnSignals(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort(signal))
  return stop.signal
}
