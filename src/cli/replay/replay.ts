import { exchangeLabel, turnStoreOf, type TurnStore } from '../../tape/turns.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { CommandDefinition } from '../command.ts'
import { readSecretValues } from '../options/live-options.ts'
import { usageError, type GivenOptions } from '../options/option.ts'
import {
  REPLAY_OPTIONS,
  readReplayFlags,
  toReplayOptions,
  type ReplayFlags,
} from '../options/replay-options.ts'
import { TAPE_ARGUMENT } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { announceWaiting, FoldedStderr, printRunTape, readReplayTarget } from './replay-target.ts'
import { recordTarget } from '../../replay/record-target.ts'
import { askOnTerminal, pauseOnFailure, requireInteractive, runStepped } from './interactive.ts'
import { printDryRun, RunReports, createRunRedactor, redactReport } from './run-reports.ts'
import { readFaultsFile } from '../serve/play-options.ts'
import { isOpeningMethod } from '../../protocol/revisions/index.ts'
import { abortOnSignals } from '../signals.ts'
import { ReelayError } from '../../errors.ts'
import { signalGroup } from '../../link/process/process-family.ts'
import { ReplayController } from '../../replay/control/controller.ts'
import type { ReplayedTape } from '../../replay/plan/server-part.ts'
import { ProfileNoise, type NoiseProfile } from '../../replay/noise/noise-profile.ts'
import { readNoiseProfile } from '../../replay/noise/profile-file.ts'
import { replayRepeatedly, type RepeatOptions } from '../../replay/repeat/repeat.ts'
import { placesOfTwoValues, type RepeatedReport } from '../../replay/repeat/repeated-report.ts'
import { failedSteps, type ReplayVerdict } from '../../replay/report.ts'
import { migrationNotes } from '../../report/migration.ts'
import { playAs } from './other-era.ts'
import { liveSecrets } from '../../replay/session/live-secrets.ts'
import type { TransformRule } from '../../replay/transform/rule.ts'
import type { ReplayStep, StepFinding } from '../../replay/steps/step.ts'
import { tapeBindings } from '../../replay/values/tape-bindings.ts'
import { loadTape } from '../../store/file/read.ts'
import { rewriteMessages } from '../../store/file/rewrite.ts'
import { requireNewFile } from '../../store/file/write.ts'
import { resolveTape } from '../../store/home.ts'
import { openIndexedTape, type IndexedTape } from '../../store/index/indexed-tape.ts'
import { escapeControlChars, suggestName, suggestPath } from '../../text.ts'
import { unmatchedFaults } from '../../faults/fault-rules.ts'
import { jsonLeaves } from '../../json/find-replace.ts'
import { isObject, member, parseJson } from '../../json/parse.ts'
import { formatPath, parsePath, valuesAtPattern } from '../../json/path.ts'
import { clearProgress, showProgress, showTapeReading } from '../output/progress.ts'

export const REPLAY_ARGUMENTS: Readonly<Record<string, string>> = {
  ...TAPE_ARGUMENT,
  '[command...]': 'Command that starts the live server, after --',
}

/** The options of both commands that most people need. */
export const COMMON_OPTIONS: readonly string[] =
  'url header timeout server include exclude timing strict ignore allow allowWrites dryRun json verbose output'.split(
    ' ',
  )

export const replayCommand: CommandDefinition = {
  name: 'replay',
  usage: '[options] <tape> -- <server command…>\n       reelay replay [options] <tape> --url <url>',
  arguments: REPLAY_ARGUMENTS,
  options: REPLAY_OPTIONS,
  common: COMMON_OPTIONS,
  run: ([tape = '', ...command], given) => {
    const flags = readReplayFlags('replay', given)
    return runReplay({ tape, command, flags, repeat: flags.repeat ?? 1, always: true, given })
  },
}

export interface ReplayRun extends Required<Pick<RepeatOptions, 'repeat' | 'always'>> {
  /** The command that learns the noise of this tape, if this run uses a noise profile. */
  readonly learnCommand?: string
  readonly tape: string
  readonly command: readonly string[]
  readonly flags: ReplayFlags
  readonly given: GivenOptions
}

/** Says which paths of `--ignore` are in no recorded response. Such a path is most often misspelled. */
function unmatchedPaths(turns: TurnStore, given: readonly (string | boolean)[] = []): readonly string[] {
  const open = new Map(given.map((path) => [String(path), parsePath(String(path))]))
  const known = new Set<string>()
  for (let place = 0; place < turns.size && open.size > 0; place++) {
    const text = turns.at(place)?.response?.text ?? ''
    const response = parseJson(text)
    for (const { path } of known.size < MOST_KNOWN_PATHS && isObject(response) ? jsonLeaves(text) : [])
      known.add(formatPath(path))
    for (const [name, path] of open) if (valuesAtPattern(response, path).length > 0) open.delete(name)
  }
  return [...open.keys()].map(
    (name) => `--ignore ${name}: no recorded response has a value there${suggestPath(name, [...known])}`,
  )
}

const MOST_KNOWN_PATHS = 1000

/** Says which values of `--set` are in no recorded request. They are added, but such a path is most often misspelled. */
function addedParams(turns: TurnStore, rules: readonly TransformRule[] = []): readonly string[] {
  const open = new Set(rules)
  const known = new Set<string>()
  for (let place = 0; place < turns.size && open.size > 0; place++) {
    if (isOpeningMethod(turns.summary(place).method)) continue
    const params = member(turns.at(place)?.trigger?.message, 'params')
    if (isObject(params) && known.size < MOST_KNOWN_PATHS)
      for (const { path } of jsonLeaves(JSON.stringify(params))) known.add(formatPath(path))
    for (const rule of open)
      if (rule.action.kind !== 'set-param' || valuesAtPattern(params, rule.action.path).length > 0)
        open.delete(rule)
  }
  return [...open].map(
    ({ name, action }) =>
      `${name}: no recorded request has a value there, so it is added${
        'path' in action
          ? suggestPath(
              formatPath(action.path),
              [...known].filter((path) => path !== 'name'),
            )
          : ''
      }`,
  )
}

/** Without the message that `--set` names, the run would say nothing about the change that the user wants to try. */
function requireMatchingRules(turns: TurnStore, rules: readonly TransformRule[] = []): void {
  for (const { name: rule, when } of rules) {
    if (!rule.startsWith('--set') || (when.kind !== 'method' && when.kind !== 'tool')) continue
    const known = new Set<string>()
    for (let place = 0; place < turns.size; place++) {
      const { method, name } = turns.summary(place)
      known.add(when.kind === 'method' ? method : method === 'tools/call' ? (name ?? '') : '')
    }
    if (known.has(when.equals)) continue
    const names = [...known].filter((name) => name !== '')
    throw usageError(
      `${rule}: the tape has no ${when.kind === 'method' ? 'message' : 'call of'} ${when.equals}${suggestName(when.equals, names)}`,
      `the tape has ${names.length === 0 ? 'no calls' : names.slice(0, MOST_NAMED).join(', ')}`,
    )
  }
}

const MOST_NAMED = 10

/** Replays a tape, prints the result and sets the exit code. */
export async function runReplay(run: ReplayRun, stop: AbortSignal = abortOnSignals()): Promise<void> {
  showTapeReading()
  const tape = await openIndexedTape(resolveTape(run.tape), { side: 'server' })
  try {
    await replayTape(tape, run, stop)
  } finally {
    tape.close()
  }
}

async function replayTape(
  tape: IndexedTape,
  { command, flags, repeat, always, learnCommand, given: words }: ReplayRun,
  stop: AbortSignal,
): Promise<void> {
  const faults = flags.faults === undefined ? [] : await readFaultsFile(flags.faults)
  const isTapedAsClient = flags.record !== undefined && flags.handshake === undefined
  const era = await playAs(flags.as, tape, flags)
  if (flags.as !== undefined && era === undefined)
    process.stderr.write(`reelay: --as ${flags.as} changes nothing: the tape was recorded in this era\n`)
  const options = {
    ...toReplayOptions(flags),
    faults,
    asRecordedClient: isTapedAsClient,
    ...era?.options,
  }
  const turns = turnStoreOf(tape.turns)
  requireMatchingRules(turns, words['rules'] === undefined ? [] : options.rules)
  for (const text of [
    ...unmatchedFaults(faults, turns),
    ...unmatchedPaths(turns, words['ignore']),
    ...addedParams(turns, words['rules'] === undefined ? [] : options.rules),
  ])
    process.stderr.write(`reelay: warning: ${escapeControlChars(text)}\n`)
  if (flags.explain !== undefined) requireExchange(turns, flags.explain)
  const baseline =
    flags.baseline === undefined ? undefined : await loadTape(resolveTape(flags.baseline), 'server')
  const correlate = flags.correlate !== false && (await tapeBindings(tape, { ...flags, baseline }))
  if (flags.dryRun) return printDryRun(tape, { ...options, correlate }, flags)
  const isStepped = options.timing?.kind === 'stepped'
  if (isStepped) requireInteractive(flags)
  if (flags.record !== undefined) requireNewFile(resolveTape(flags.record))
  const given = readSecretValues(flags)
  const stderr = new FoldedStderr(flags.verbose === true)
  const { target: recorded, closeTape } = recordTarget(
    announceWaiting(
      readReplayTarget(command, flags, (chunk) => stderr.add(chunk)),
      options.startTimeout,
      stderr,
    ),
    {
      path: flags.record,
      of: tape.header.id,
      handshake: flags.handshake,
      turns,
      command,
      secrets: given,
    },
  )
  // The tape of the run is of the era of the server.
  const target = era?.translate(recorded) ?? recorded
  const secrets = liveSecrets(tape.header, { values: given })
  const signal = AbortSignal.any([stop]) // its listeners are released with the run
  const controller = new ReplayController()
  const onError = isStepped && options.onError === 'pause' ? 'continue' : (options.onError ?? 'continue')
  // A check shows what is left after noise; a replay is watched step by step.
  const hasRows = always || flags.verbose === true || isStepped || onError === 'pause'
  const reports = new RunReports(flags, { hasRows, command: always ? 'replay' : 'verify' })
  const run = {
    ...options,
    correlate,
    ...(secrets && { secrets }),
    ...(reports.needTexts && { keepTexts: Infinity }),
    target,
    signal,
    controller,
    onAsk: flags.onAsk === 'ask' ? askOnTerminal(signal) : (flags.onAsk ?? 'decline'),
    onError,
  }
  const screen = createRunRedactor(secrets)
  const pause = onError === 'pause' ? pauseOnFailure(controller) : () => {}
  const noise = learnCommand === undefined ? undefined : noiseProfileFor(tape, flags, learnCommand)
  const profile = noise && new ProfileNoise(noise)
  const onStep = (step: ReplayStep, number: number): void => {
    const shown = profile?.without(step) ?? step
    reports.printStep(shown, { run: number, isOnlyRun: repeat === 1, screen })
    if (!hasRows || !process.stdout.isTTY) showRunProgress(step.index + 1, turns.size, number)
    pause(step)
  }
  const beforeRun = createBeforeRun(flags.beforeRun, signal)
  const mayConfirm =
    !always && repeat > 1 && !isStepped && flags.record === undefined && flags.onAsk !== 'ask'
  const quietTarget = readReplayTarget(command, flags, () => {})
  const runs = {
    repeat,
    always,
    onStep,
    ...(mayConfirm && {
      confirm: {
        target: era?.translate(quietTarget) ?? quietTarget,
        repeatsWrites: flags.repeat !== undefined,
      },
    }),
    ...(beforeRun && { beforeRun }),
    ...(baseline && { baseline }),
    ...(noise && { noise }),
    ...(flags.explain !== undefined && { explain: flags.explain }),
  }
  let report: RepeatedReport
  try {
    report = isStepped
      ? await runStepped((onStop) => replayRepeatedly(tape, run, { ...runs, onStop }), screen)
      : await replayRepeatedly(tape, run, runs)
  } catch (error) {
    throw stderr.explained(error)
  } finally {
    clearProgress()
    printRunTape(await closeTape()) // the tape of a run that failed ends as well
  }
  stderr.close()
  const notes = [...report.notes, ...(era === undefined ? [] : migrationNotes(era.migration))]
  await reports.write(redactReport({ ...report, notes }, screen))
  if (learnCommand !== undefined && noise === undefined && report.noise.length > 0)
    process.stderr.write(
      `reelay verify: noise was learned from the server under test; to learn it from a known-good server: ${learnCommand}\n`,
    )
  const undecided = learnCommand === undefined || noise !== undefined ? [] : placesOfTwoValues(report)
  if (undecided.length > 0)
    process.stderr.write(
      `reelay verify: ${undecided.join(', ')} may be random, but has only two values: if the known-good server varies there too, make a noise profile: ${learnCommand}\n`,
    )
  const accepted = flags.update && (await acceptAnswers(tape, report))
  process.exitCode = signal.aborted ? 130 : accepted ? 0 : exitCodeOf(report, flags)
}

function requireExchange(turns: TurnStore, exchange: number): void {
  for (let place = 0; place < turns.size; place++) if (turns.exchangeOf(place) === exchange) return
  throw usageError(
    `--explain: the tape has no exchange #${exchange}`,
    'reelay inspect shows the numbers of the exchanges',
  )
}

function showRunProgress(count: number, of: number, run: number): void {
  showProgress(`sending message ${count} of ${of}${run === 1 ? '' : `, run ${run}`}`)
}

/** Reads the noise profile and says that it is used, or why it is not. */
function noiseProfileFor(
  tape: IndexedTape,
  { noiseProfile: path, useNoiseProfile }: ReplayFlags,
  learnCommand: string,
): NoiseProfile | undefined {
  if (useNoiseProfile === false) return undefined
  const stored = readNoiseProfile(tape, { path })
  if (stored === undefined) return undefined
  const { profile, stale } = stored
  if (stale !== undefined) {
    process.stderr.write(
      `reelay verify: the noise profile ${stored.path} is not used, because ${stale}; renew it: ${learnCommand}\n`,
    )
    return undefined
  }
  const learned =
    profile.learned === undefined ? '' : ` (${profile.runs} runs, ${profile.learned.slice(0, 10)})`
  process.stderr.write(`reelay verify: using the noise profile ${stored.path}${learned}\n`)
  return profile
}

const EXIT_CODES: Readonly<Record<ReplayVerdict, 0 | 1 | 3>> = { pass: 0, fail: 1, flaky: 1, incomplete: 3 }

/** The exit code for the verdict of a run. */
export function exitCodeOf({ summary }: Pick<RepeatedReport, 'summary'>, { flaky }: ReplayFlags): 0 | 1 | 3 {
  const { verdict, held, unbound } = summary
  if (verdict !== 'flaky' || flaky !== 'allow') return EXIT_CODES[verdict]
  return EXIT_CODES[held + unbound > 0 ? 'incomplete' : 'pass']
}

/** Replaces responses on the tape that differ and lists them. Returns true if no difference is left. */
async function acceptAnswers(tape: ReplayedTape, report: RepeatedReport): Promise<boolean> {
  if (!tape.ended) throw notEnded(tape.path)
  const changed = failedSteps(report)
  const effectOf = (step: ReplayStep): AcceptEffect => acceptEffect(step, report.judgedRuns)
  for (const step of changed) print(`${EFFECT_TEXT[effectOf(step)]}  ${stepName(step)}\n`)
  const accepted = changed.flatMap((step) => (effectOf(step) === 'none' ? [] : (step.acceptable ?? [])))
  if (accepted.length === 0) return false
  if ('close' in tape) tape.close() // an open file cannot be replaced everywhere
  const written = await rewriteMessages(tape.path, new Map(accepted.map(({ frame, text }) => [frame, text])))
  print(
    `${written} ${written === 1 ? 'answer' : 'answers'} on ${tape.path} replaced; all other bytes are unchanged\n`,
  )
  return changed.every((step) => effectOf(step) === 'all')
}

type AcceptEffect = 'all' | 'some' | 'none'

const EFFECT_TEXT: Readonly<Record<AcceptEffect, string>> = {
  all: 'accepted',
  some: 'in part ',
  none: 'kept    ',
}

/** How much a new response on the tape settles: not requests of the server before it, not its latency, and not what differs only in some runs. */
function acceptEffect({ acceptable, findings }: ReplayStep, runs: number): AcceptEffect {
  const errors = findings.filter(({ level }) => level === 'error')
  if (errors.some(({ inRuns = runs }) => inRuns < runs)) return 'none'
  const settled = acceptable === undefined ? [] : errors.filter(isAboutAnswer)
  if (settled.length === 0) return 'none'
  return settled.length === errors.length ? 'all' : 'some'
}

function isAboutAnswer({ path }: StepFinding): boolean {
  return path !== undefined && /^(result|error)\b/.test(path)
}

function stepName(step: ReplayStep): string {
  return [exchangeLabel(step), step.method, step.tool].filter(Boolean).join(' ')
}

function notEnded(path: string): ReelayError {
  const hint = 'a tape that is still being recorded, or was cut, is not changed: record it again'
  return new ReelayError('TAPE_UNWRITABLE', `${path} has no end`, { hint })
}

/** Runs a shell command before each run, with the number of the run in REELAY_RUN. It ends when the run is stopped. */
export function createBeforeRun(
  line: string | undefined,
  stop: AbortSignal,
): ((run: number) => Promise<void>) | undefined {
  if (line === undefined) return undefined
  return async (run) => {
    if (stop.aborted) return
    const env = { ...process.env, REELAY_RUN: String(run) }
    // Its stdout goes to our stderr, because stdout holds only results.
    // A separate process group, so that everything the command starts ends with it.
    const child = spawn(line, { shell: true, stdio: ['ignore', 2, 2], env, detached: !IS_WINDOWS })
    const end = (): void => void (child.pid !== undefined && signalGroup(child.pid, 'SIGTERM'))
    stop.addEventListener('abort', end, { once: true })
    const [code]: unknown[] = await once(child, 'close')
    stop.removeEventListener('abort', end)
    if (code !== 0 && !stop.aborted)
      throw beforeRunFailed(line, typeof code === 'number' ? `ended with ${code}` : 'was ended by a signal')
  }
}

const IS_WINDOWS = process.platform === 'win32'

function beforeRunFailed(line: string, why: string): ReelayError {
  return new ReelayError('BEFORE_RUN_FAILED', `--before-run ${JSON.stringify(line)} ${why}`, {
    hint: 'run the command by hand; nothing was sent, because the initial state may differ from the recording',
  })
}
