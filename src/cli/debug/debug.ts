import { join } from 'node:path'
import { ReelayError } from '../../errors.ts'
import type { ControlServer } from '../../control/control-server.ts'
import { homeFolder, resolveTape } from '../../store/home.ts'
import type { ControllerEvent, DoneEvent, StoppedEvent } from '../../replay/control/commands.ts'
import { SKIPPED } from '../../replay/control/message-edit.ts'
import type { Replay } from '../../replay/replay.ts'
import type { ReplayReport } from '../../replay/report.ts'
import {
  doneAsText,
  openAsText,
  responseAsText,
  stopAsText,
  type DebugViewOptions,
} from '../../report/debug-view.ts'
import { replaySummaryText } from '../../report/replay.ts'
import { escapeControlChars } from '../../text.ts'
import type { CommandDefinition } from '../command.ts'
import { type GivenOptions, option, type OptionRow, readOptions } from '../options/option.ts'
import { listOf, switchOn, textValue } from '../options/option-types.ts'
import { readReplayFlags } from '../options/replay-options.ts'
import { print, printText } from '../output/print.ts'
import { showTapeReading } from '../output/progress.ts'
import { redactFinding, redactReport } from '../replay/run-reports.ts'
import { FoldedStderr } from '../replay/replay-target.ts'
import { exitCodeOf, REPLAY_ARGUMENTS } from '../replay/replay.ts'
import { abortOnSignals } from '../signals.ts'
import { DEBUG_RUN_OPTIONS, type DebugRun, openDebugRun, redactView } from './debug-run.ts'
import {
  completeDebuggerLine,
  type Debugger,
  errorText,
  readBreakpoint,
  runDebuggerLine,
} from './debugger-commands.ts'
import { editJson } from './edit-message.ts'
import { LineInput } from './line-input.ts'

interface DebugFlags {
  readonly break?: readonly string[]
  readonly run?: true
  readonly control?: true
}

const OWN_OPTIONS: { readonly [Name in keyof DebugFlags]-?: OptionRow<NonNullable<DebugFlags[Name]>> } = {
  break: option(
    '--break <filter>',
    listOf(textValue),
    "Stop at messages that match this filter, e.g. '#38', 'tool:search' or 'result.total > 100', at a frame, e.g. 'frame 76', or at a difference (repeatable)",
    { group: 'Debugger' },
  ),
  control: option(
    '--control',
    switchOn,
    'Also accept commands from other programs on the control socket of the tape',
    { group: 'Debugger' },
  ),
  run: option(
    '--run',
    switchOn,
    'Continue to the first breakpoint, instead of stopping at the first message',
    {
      group: 'Debugger',
    },
  ),
}

export const debugCommand: CommandDefinition = {
  name: 'debug',
  usage: '[options] <tape> -- <server command…>\n       reelay debug [options] <tape> --url <url>',
  arguments: REPLAY_ARGUMENTS,
  options: { ...OWN_OPTIONS, ...DEBUG_RUN_OPTIONS },
  common: 'break run url header timeout server include exclude ignore allow allowWrites record'.split(' '),
  notes:
    'Type "help" at the prompt to see the commands. If stdin is not a terminal, commands are read from it, one on each line.',
  run: ([tape = '', ...command], given) => debugTape(tape, command, given),
}

async function debugTape(tape: string, command: readonly string[], given: GivenOptions): Promise<void> {
  const flags = readReplayFlags('debug', given)
  if (flags.timing?.kind === 'stepped' || flags.onAsk === 'ask')
    throw new ReelayError('USAGE', 'the debugger asks at the terminal itself', {
      hint: 'leave out --pace stepped and --on-ask ask',
    })
  const own = readOptions<DebugFlags>(OWN_OPTIONS, given, { command: 'debug' })
  const signal = abortOnSignals()
  showTapeReading()
  const stderr = new FoldedStderr(flags.verbose === true)
  const run = await openDebugRun({ tape, command, flags, signal, onStderr: (chunk) => stderr.add(chunk) })
  let control: ControlServer | undefined
  try {
    for (const place of own.break ?? []) run.controller.addBreakpoint(readBreakpoint(place))
    if (own.run !== true) run.controller.stopAtFirst()
    if (own.control) control = await openControl(run.controller, resolveTape(tape))
    const session = new DebugSession(run)
    const report = await session.run()
    session.printSummary(report)
    process.exitCode = signal.aborted ? 130 : exitCodeOf(report, flags)
  } catch (error) {
    throw stderr.explained(error)
  } finally {
    control?.close()
    await run.close()
  }
  stderr.close()
}

async function openControl(controller: DebugRun['controller'], tape: string): Promise<ControlServer> {
  const { startControl } = await import('../../control/control-server.ts')
  const { replaySubject } = await import('../../replay/control/control-subject.ts')
  return startControl({ tape, subject: replaySubject(controller, tape) })
}

const MAX_LINES = 24

/** Reads commands, and shows where the run stops. */
class DebugSession implements Debugger {
  readonly controller: Debugger['controller']
  readonly options: DebugViewOptions
  readonly #run: DebugRun
  readonly #input: LineInput
  /** The last message that is done, until it is shown. */
  #lastDone: DoneEvent | undefined
  #lastLine = ''
  /** The messages without a response that were printed. */
  readonly #openPrinted = new Set<number>()

  constructor(run: DebugRun) {
    this.#run = run
    this.controller = run.controller
    this.#input = new LineInput({
      prompt: '(reelay) ',
      complete: (line) => completeDebuggerLine(line, this),
      onInterrupt: () => this.#interrupt(),
      historyFile: join(homeFolder(), 'debug-history'),
      redact: (line) => run.screen.text(line),
    })
    this.options = { showsTimes: this.#input.isTerminal, maxLines: MAX_LINES }
  }

  /** Runs the tape until its end, or until the user leaves. */
  async run(): Promise<ReplayReport> {
    this.controller.subscribe((event) => this.#handle(event))
    const replay = this.#run.start()
    const end = new RunEnd(replay)
    try {
      while (!end.isReached) {
        const isStopped = this.controller.currentStop !== undefined
        const isReading = isStopped || this.#input.isTerminal // a script goes on when the run has stopped
        if (isStopped) this.#input.prompt()
        const stops = this.controller.waitForStop().then(() => (this.#isOver ? end.reached : undefined))
        await Promise.race([
          end.reached,
          ...(isReading ? [this.#input.waitForLine()] : []),
          ...(isStopped ? [] : [stops]),
        ])
        if (isReading && this.#input.hasLine && !end.isReached) await this.#runLine(await this.#input.next())
      }
      return await replay.report
    } finally {
      this.#input.close()
    }
  }

  printSummary(report: ReplayReport): void {
    this.#printDone()
    const whole = { ...report, stepsOfRuns: [], runs: 1, judgedRuns: 1, noise: [], unstable: [] }
    const { showsTimes } = this.options
    printText(replaySummaryText(redactReport(whole, this.#run.screen), { hasRows: false, showsTimes }))
  }

  print = (text: string): void => print(text)

  shown: Debugger['shown'] = (view) => redactView(view, this.#run.screen)

  showStop(): void {
    const stop = this.controller.currentStop
    print(
      stop === undefined
        ? `the run is ${this.controller.status}\n`
        : stopAsText(this.#redacted(stop), this.options),
    )
  }

  edit(text: string): Promise<string | undefined> {
    const { isTerminal } = this.#input
    return this.#input.suspend(() => editJson(text, { isTerminal }))
  }

  get #isOver(): boolean {
    return this.controller.status === 'done' || this.controller.status === 'stopped'
  }

  async #runLine(given: string | undefined): Promise<void> {
    if (given === undefined) return this.controller.stop()
    const line = given.trim() === '' && this.#input.isTerminal ? this.#lastLine : given.trim()
    if (line === '' || line.startsWith('#')) return
    this.#lastLine = /^(n|next|s|step|back|sb)$/.test(line) ? line : ''
    if (!this.#input.isTerminal) print(`> ${escapeControlChars(line)}\n`)
    try {
      await runDebuggerLine(line, this)
    } catch (error) {
      print(this.#run.screen.text(errorText(error)))
    }
  }

  #interrupt(): void {
    if (this.controller.status === 'running') return this.controller.pause()
    print('\ntype "quit" to end the run\n')
    this.#input.prompt()
  }

  #handle(event: ControllerEvent): void {
    if (event.type === 'stopped') {
      this.#printOpen()
      this.#showDone(event)
      print(stopAsText(this.#redacted(event), this.options))
    } else if (event.type === 'output') {
      this.#printDone()
      print(`log: ${escapeControlChars(this.#run.screen.text(event.text))}\n`)
    } else if (event.type === 'done' && (event.state !== 'skipped' || event.why === SKIPPED)) {
      this.#printDone()
      this.#lastDone = event
    }
  }

  /** Prints a message that is done on one line, with its differences. */
  #printDone(): void {
    const done = this.#lastDone
    this.#lastDone = undefined
    if (done === undefined) return
    const findings = done.findings.map((finding) => redactFinding(finding, this.#run.screen))
    printText(doneAsText({ ...done, findings }, this.options))
  }

  /** The run goes on while some requests are open. Without these lines, they would seem not to be sent. */
  #printOpen(): void {
    for (const message of this.controller.state().open) {
      if (this.#openPrinted.has(message.index)) continue
      this.#openPrinted.add(message.index)
      printText(openAsText(message))
    }
  }

  /** Shows the response and the differences of the message before the stop. If the run has stopped at a response, the stop shows them. */
  #showDone({ message }: StoppedEvent): void {
    const done = this.#lastDone
    if (done?.index === message?.index) this.#lastDone = undefined
    if (done === undefined || this.#lastDone === undefined) return
    this.#printDone()
    const view = this.controller.show(done.index)
    if (view !== undefined) print(responseAsText(this.shown(view), this.options))
  }

  #redacted(stop: StoppedEvent): StoppedEvent {
    return { ...stop, message: stop.message && this.shown(stop.message) }
  }
}

/** The end of a run. */
class RunEnd {
  isReached = false
  /** Resolves when the run is over, even if it failed. */
  readonly reached: Promise<void>

  constructor({ report }: Replay) {
    const end = (): void => void (this.isReached = true)
    this.reached = report.then(end, end)
  }
}
