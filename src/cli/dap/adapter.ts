import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ReelayError } from '../../errors.ts'
import { isObject, member, parseJson } from '../../json/parse.ts'
import { formatPath, parsePath, type PathPattern, valuesAtPattern } from '../../json/path.ts'
import type {
  BreakpointSpec,
  ControllerEvent,
  MessageView,
  StoppedEvent,
  StopReason,
} from '../../replay/control/commands.ts'
import type { ReplayReport } from '../../replay/report.ts'
import { differencesAsText, doneAsText, messageName, outcomeAsText } from '../../report/debug-view.ts'
import { replaySummaryText } from '../../report/replay.ts'
import { escapeControlChars } from '../../text.ts'
import { DEBUG_RUN_OPTIONS, type DebugRun, openDebugRun, redactView } from '../debug/debug-run.ts'
import {
  completeDebuggerLine,
  type Debugger,
  errorText,
  isDebuggerCommand,
  readBreakpoint,
  runDebuggerLine,
  viewValues,
} from '../debug/debugger-commands.ts'
import { type GivenOptions, usageError } from '../options/option.ts'
import { type ReplayFlags, readReplayFlags } from '../options/replay-options.ts'
import { redactFinding, redactReport } from '../replay/run-reports.ts'
import { exitCodeOf } from '../replay/replay.ts'
import type { DapConnection, DapRequest } from './dap-connection.ts'
import { TapeLines } from './tape-lines.ts'
import { VariableStore } from './variables.ts'

/** What the command line of `reelay dap` sets. */
export interface AdapterDefaults {
  readonly tape: string | undefined
  readonly command: readonly string[]
  readonly given: GivenOptions
  /** True on a port, which other users of the machine can reach: the editor cannot choose what is started. */
  readonly isFixed: boolean
}

/** A session that was launched. */
interface DebugSession {
  readonly run: DebugRun
  readonly lines: TapeLines
  readonly flags: ReplayFlags
  readonly isStoppedAtEntry: boolean
  /** Resolves when the run is over, even if it failed; `undefined` before it was started. */
  over: Promise<void> | undefined
}

const THREAD = { id: 1, name: 'recorded client' }
const VIEW = { showsTimes: true, maxLines: 1000 }

const CAPABILITIES = {
  supportsConfigurationDoneRequest: true,
  supportsFunctionBreakpoints: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsEvaluateForHovers: true,
  supportsStepBack: true,
  supportsSetVariable: true,
  supportsSetExpression: true,
  supportsCompletionsRequest: true,
  completionTriggerCharacters: [' ', '.', ':'],
  supportsRestartFrame: true,
  supportsGotoTargetsRequest: true,
  supportsExceptionInfoRequest: true,
  supportsTerminateRequest: true,
  supportsBreakpointLocationsRequest: true,
  exceptionBreakpointFilters: [
    { filter: 'difference', label: 'Responses that differ from the tape', default: true },
    { filter: 'first-difference', label: 'Only the first response that differs', default: false },
  ],
}

/** Speaks the Debug Adapter Protocol: the tape is the source, and each of its lines with a message is a place to stop at. */
export class DebugAdapter {
  readonly #connection: DapConnection
  readonly #defaults: AdapterDefaults
  readonly #stop = new AbortController()
  readonly #variables = new VariableStore()
  /** The breakpoints of the controller by the request that set them: each request replaces all that it set before. */
  readonly #breakpoints = new Map<string, readonly number[]>()
  /** The number that the editor gives to the first line of a file. */
  #firstLine: 0 | 1 = 1
  #session: DebugSession | undefined
  /** Opening a tape takes time, in which an editor may send more requests. */
  #opening: Promise<void> | undefined
  #closing: Promise<void> | undefined
  readonly #handlers: Readonly<Record<string, (request: DapRequest) => Promise<void> | void>> = {
    initialize: (request) => {
      this.#firstLine = request.arguments['linesStartAt1'] === false ? 0 : 1
      this.#respond(request, CAPABILITIES)
    },
    launch: (request) => this.#launch(request),
    attach: (request) => this.#launch(request),
    configurationDone: (request) => this.#start(request),
    setBreakpoints: (request) => this.#setBreakpoints(request),
    setFunctionBreakpoints: (request) => this.#setFunctionBreakpoints(request),
    setExceptionBreakpoints: (request) => this.#setExceptionBreakpoints(request),
    breakpointLocations: (request) => this.#breakpointLocations(request),
    threads: (request) => this.#respond(request, { threads: [THREAD] }),
    stackTrace: (request) => this.#stackTrace(request),
    scopes: (request) => this.#respond(request, { scopes: this.#variables.scopesOf(this.#viewAt(request)) }),
    variables: (request) => this.#showVariables(request),
    setVariable: (request) => this.#setVariable(request),
    setExpression: (request) => this.#setExpression(request),
    evaluate: (request) => this.#evaluate(request),
    completions: (request) => this.#complete(request),
    continue: (request) =>
      this.#move(request, ({ controller }) => controller.resume(), { allThreadsContinued: true }),
    next: (request) => this.#move(request, ({ controller }) => controller.step()),
    stepIn: (request) => this.#move(request, ({ controller }) => controller.step('message')),
    stepOut: (request) => this.#move(request, ({ controller }) => controller.step()),
    stepBack: (request) => this.#move(request, ({ controller }) => controller.stepBack('message')),
    reverseContinue: (request) => this.#move(request, ({ controller }) => controller.runBack()),
    goto: (request) =>
      this.#move(request, ({ controller }) => controller.seek({ frame: numberIn(request, 'targetId') })),
    gotoTargets: (request) => this.#gotoTargets(request),
    restartFrame: (request) => this.#restartFrame(request),
    pause: (request) => {
      this.#active().run.controller.pause()
      this.#respond(request)
    },
    exceptionInfo: (request) => this.#exceptionInfo(request),
    terminate: (request) => {
      this.#respond(request)
      this.#end()
      if (this.#session?.over === undefined) this.#connection.event('terminated') // nothing has begun
    },
    disconnect: async (request) => {
      await this.close()
      this.#respond(request)
    },
  }

  constructor(connection: DapConnection, defaults: AdapterDefaults) {
    this.#connection = connection
    this.#defaults = defaults
  }

  async handle(request: DapRequest): Promise<void> {
    try {
      const handler = Object.hasOwn(this.#handlers, request.command)
        ? this.#handlers[request.command]
        : undefined
      if (handler === undefined)
        throw usageError(`the request ${request.command} is not supported`, 'see reelay dap --help')
      await handler(request)
    } catch (error) {
      this.#connection.refuse(
        request,
        this.#redacted(errorText(error))
          .replace(/^error: /, '')
          .trim(),
      )
    }
  }

  /** Ends the run and the server, and finishes the tape of the run. May be called more than once. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#stop.abort()
    this.#end()
    await this.#opening?.catch(() => {}) // its request is refused
    await this.#session?.over
    await this.#session?.run.close()
  }

  #end(): void {
    this.#session?.run.controller.stop()
  }

  async #launch(request: DapRequest): Promise<void> {
    if (this.#opening !== undefined) throw usageError('a tape is debugged already', 'start reelay dap again')
    this.#opening = this.#open(request)
    try {
      await this.#opening
    } catch (error) {
      this.#opening = undefined
      throw error
    }
  }

  async #open(request: DapRequest): Promise<void> {
    const { tape, command, given, surroundings } = readLaunch(request, this.#defaults)
    const flags = readReplayFlags('debug', given)
    const onStderr = (chunk: Uint8Array): void => this.#print(Buffer.from(chunk).toString('utf8'), 'stderr')
    const run = await openDebugRun({
      tape,
      command,
      flags,
      signal: this.#stop.signal,
      onStderr,
      surroundings,
    })
    const lines = await TapeLines.read(run.tape.path, {
      turns: run.tape.turns,
      handshake: flags.handshake ?? 'own',
    })
    if (this.#stop.signal.aborted) {
      await run.close()
      throw usageError('the session is over', 'start reelay dap again')
    }
    const isStoppedAtEntry = request.arguments['stopOnEntry'] !== false
    this.#session = { run, lines, flags, isStoppedAtEntry, over: undefined }
    run.controller.subscribe((event) => this.#handleEvent(event))
    this.#respond(request)
    this.#connection.event('initialized')
  }

  #start(request: DapRequest): void {
    const session = this.#active()
    this.#respond(request)
    if (session.over !== undefined) return
    if (session.isStoppedAtEntry) session.run.controller.stopAtFirst()
    session.over = this.#untilOver(session)
  }

  async #untilOver(session: DebugSession): Promise<void> {
    try {
      const report = await session.run.start().report
      this.#printSummary(report, session)
      this.#exit(exitCodeOf(report, session.flags))
    } catch (error) {
      this.#print(this.#redacted(errorText(error)), 'stderr')
      this.#exit(error instanceof ReelayError ? error.exitCode : 3)
    }
  }

  #printSummary(report: ReplayReport, { run }: DebugSession): void {
    const whole = { ...report, stepsOfRuns: [], runs: 1, judgedRuns: 1, noise: [], unstable: [] }
    this.#print(replaySummaryText(redactReport(whole, run.screen), { hasRows: false }), 'stdout')
  }

  #exit(exitCode: number): void {
    this.#connection.event('exited', { exitCode })
    this.#connection.event('terminated')
  }

  #setBreakpoints(request: DapRequest): void {
    const path = String(member(request.arguments['source'], 'path'))
    const { run, lines } = this.#active()
    const isTape = isSameFile(path, run.tape.path)
    const wanted = listIn(request, 'breakpoints')
    this.#replaceBreakpoints(
      request,
      `source ${path}`,
      wanted.map((one) => () => {
        const place = isTape ? lines.stopAt(this.#tapeLine(Number(member(one, 'line')))) : undefined
        if (place === undefined)
          throw usageError(
            isTape ? 'there is no message on this line or after it' : `the tape is ${run.tape.path}`,
            '',
          )
        if (place.problem !== undefined) throw usageError(place.problem, '')
        const [condition, hits, log] = ['condition', 'hitCondition', 'logMessage'].map((name) =>
          textOf(member(one, name)),
        )
        const spec = {
          frame: place.frame,
          ...(condition && { filter: condition }),
          ...(hits && { hits }),
          ...(log && { log }),
        }
        return { spec, line: place.line }
      }),
    )
  }

  #setFunctionBreakpoints(request: DapRequest): void {
    this.#replaceBreakpoints(
      request,
      'functions',
      listIn(request, 'breakpoints').map((one) => () => {
        const [name = '', condition, hits] = ['name', 'condition', 'hitCondition'].map((key) =>
          textOf(member(one, key)),
        )
        const { filter, ...rest } = readBreakpoint(name)
        const both = [filter, condition].filter((text) => text !== undefined && text !== '').join(' ')
        return { spec: { ...rest, ...(both !== '' && { filter: both }), ...(hits && { hits }) } }
      }),
    )
  }

  #setExceptionBreakpoints(request: DapRequest): void {
    const filters = listIn(request, 'filters').filter(
      (name) => name === 'difference' || name === 'first-difference',
    )
    this.#replaceBreakpoints(
      request,
      'exceptions',
      filters.map((name) => () => ({
        spec: { difference: true, ...(name === 'first-difference' && { once: true }) },
      })),
    )
  }

  #replaceBreakpoints(
    request: DapRequest,
    group: string,
    wanted: readonly (() => { readonly spec: BreakpointSpec; readonly line?: number })[],
  ): void {
    const { run } = this.#active()
    for (const id of this.#breakpoints.get(group) ?? []) run.controller.removeBreakpoint(id)
    const ids: number[] = []
    const breakpoints = wanted.map((read) => {
      try {
        const { spec, line } = read()
        const { id } = run.controller.addBreakpoint(spec)
        ids.push(id)
        return { id, verified: true, ...(line !== undefined && { line: this.#editorLine(line) }) }
      } catch (error) {
        return {
          verified: false,
          message: errorText(error)
            .replace(/^error: /, '')
            .trim(),
        }
      }
    })
    this.#breakpoints.set(group, ids)
    this.#respond(request, { breakpoints })
  }

  #breakpointLocations(request: DapRequest): void {
    const { lines } = this.#active()
    const line = this.#tapeLine(numberIn(request, 'line'))
    const end = request.arguments['endLine']
    const endLine = typeof end === 'number' ? this.#tapeLine(end) : line
    const breakpoints: { line: number }[] = []
    for (
      let place = lines.stopAt(line);
      place !== undefined && place.line <= endLine;
      place = lines.stopAt(place.line + 1)
    )
      breakpoints.push({ line: this.#editorLine(place.line) })
    this.#respond(request, { breakpoints })
  }

  /** The message that is shown, and under it the messages that were done before it. */
  #stackTrace(request: DapRequest): void {
    const { run, lines } = this.#active()
    const source = { name: run.tape.path.split(/[\\/]/).at(-1), path: run.tape.path }
    const frameAt = (view: MessageView, line: number): object => ({
      id: view.index + 1,
      name: `${messageName(view)}${view.isNext ? '' : ` (${view.state}${isDifferent(view) ? ', differs' : ''})`}`,
      source,
      line: this.#editorLine(line),
      column: 1,
      canRestart: !view.isNext,
    })
    const stop = run.controller.currentStop
    if (stop === undefined) throw usageError('the run is not stopped', 'pause it first')
    const { message, phase } = stop
    const top =
      message === undefined
        ? { id: END_FRAME, name: 'end of the tape', source, line: this.#editorLine(lines.last), column: 1 }
        : frameAt(
            message,
            lines.lineOf(phase === 'response' ? (message.responseFrame ?? message.frame) : message.frame),
          )
    const frames: object[] = [top]
    for (
      let index = (message?.index ?? run.controller.size) - 1;
      index >= 0 && frames.length < MAX_FRAMES;
      index--
    ) {
      const view = run.controller.show(index)
      if (view !== undefined && view.decision.kind !== 'skip')
        frames.push(frameAt(view, lines.lineOf(view.frame)))
    }
    const from = Number(request.arguments['startFrame'] ?? 0)
    const levels = Number(request.arguments['levels'] ?? 0)
    const stackFrames = frames.slice(from, levels > 0 ? from + levels : undefined)
    this.#respond(request, { stackFrames, totalFrames: frames.length })
  }

  #showVariables(request: DapRequest): void {
    const holder = this.#variables.holder(numberIn(request, 'variablesReference'))
    if (holder === undefined) throw usageError('the run has gone on since', 'ask for the scopes again')
    const { filter, start = 0, count = 0 } = request.arguments
    const isOther = filter !== undefined && (filter === 'indexed') !== Array.isArray(holder.value)
    const all = isOther ? [] : this.#variables.variablesOf(holder)
    const from = Number(start)
    this.#respond(request, {
      variables: all.slice(from, Number(count) > 0 ? from + Number(count) : undefined),
    })
  }

  /** Changes the message that waits. A message that was already sent is changed only for `restartFrame`. */
  #setVariable(request: DapRequest): void {
    const holder = this.#variables.holder(numberIn(request, 'variablesReference'))
    const name = String(request.arguments['name'])
    const path = holder?.path && [...holder.path, Array.isArray(holder.value) ? Number(name) : name]
    this.#setValue(request, { index: holder?.index, path, name })
  }

  /** Changes the value at a path, such as one of a watch. */
  #setExpression(request: DapRequest): void {
    const name = String(request.arguments['expression']).trim()
    this.#setValue(request, { index: this.#viewAt(request).index, path: parsePath(name), name })
  }

  #setValue(
    request: DapRequest,
    {
      index,
      path,
      name,
    }: { readonly index: number | undefined; readonly path: PathPattern | undefined; readonly name: string },
  ): void {
    const { run } = this.#active()
    const isRequest = path?.[0] === 'params' || path?.[0] === 'method'
    if (index === undefined || path === undefined || !isRequest)
      throw usageError('only values of the request can be changed', 'choose a value under Request')
    const text = String(request.arguments['value'])
    const json = parseJson(text)
    const value: unknown = json === undefined ? text : json
    const view = run.controller.modify({ kind: 'set', path: formatPath(path), value }, index)
    if (view?.isNext === false)
      this.#print(
        'the message was already sent: restart the frame to send the changed one again\n',
        'console',
      )
    const { value: shown, type, variablesReference } = this.#variables.variable(name, value, { index, path })
    this.#respond(request, { value: shown, type, variablesReference })
  }

  /** Completes a command of the debug console, or a path. */
  #complete(request: DapRequest): void {
    const { text: given } = request.arguments
    const text = typeof given === 'string' ? given : ''
    const before = text.slice(0, Math.max(0, numberIn(request, 'column') - 1))
    const debug = this.#debugger(() => {})
    const isCommand = isDebuggerCommand(before.trim()) || !before.includes('.')
    const [words, typed] = completeDebuggerLine(isCommand ? before : `show ${before}`, debug)
    const start = before.length - typed.length
    const targets = words.map((word) => ({ label: word.trim(), text: word, start, length: typed.length }))
    this.#respond(request, { targets: targets.slice(0, MAX_COMPLETIONS) })
  }

  #tapeLine(line: number): number {
    return line + 1 - this.#firstLine
  }

  #editorLine(line: number): number {
    return line - 1 + this.#firstLine
  }

  async #evaluate(request: DapRequest): Promise<void> {
    const expression = String(request.arguments['expression']).trim()
    const isRepl = request.arguments['context'] === 'repl'
    if (isRepl && isDebuggerCommand(expression)) {
      const printed: string[] = []
      await runDebuggerLine(
        expression,
        this.#debugger((text) => void printed.push(text)),
      )
      return this.#respond(request, { result: printed.join('').trimEnd(), variablesReference: 0 })
    }
    const view = this.#viewAt(request)
    const path = parsePath(expression)
    const found = valuesAtPattern(viewValues(view), path)
    if (found.length === 0)
      throw usageError(
        `there is no value at ${expression}`,
        'paths begin with params, result, error or recorded',
      )
    const value = found.length > 1 ? found : found[0]
    const {
      value: result,
      type,
      variablesReference,
    } = this.#variables.variable(expression, value, { index: view.index, path })
    this.#respond(request, { result, type, variablesReference })
  }

  /** Moves the run. The response comes before the event of the next stop. */
  #move(request: DapRequest, act: (run: DebugRun) => void, body: object = {}): void {
    const { run } = this.#active()
    const before = run.controller.currentStop
    if (before === undefined) throw usageError('the run is not stopped', 'pause it first')
    this.#respond(request, body)
    try {
      act(run)
    } catch (error) {
      this.#print(this.#redacted(errorText(error)), 'console')
      this.#showStop(before) // the editor believes that the run goes on
    }
  }

  #gotoTargets(request: DapRequest): void {
    const place = this.#active().lines.stopAt(this.#tapeLine(numberIn(request, 'line')))
    const targets =
      place === undefined
        ? []
        : [{ id: place.frame, label: `frame ${place.frame}`, line: this.#editorLine(place.line) }]
    this.#respond(request, { targets })
  }

  async #restartFrame(request: DapRequest): Promise<void> {
    const { run } = this.#active()
    const index = numberIn(request, 'frameId') - 1
    const { message } = await run.controller.resend(index)
    this.#respond(request)
    if (message !== undefined) {
      const view = this.#shown(message)
      this.#print(
        `sent again: ${messageName(view)}; the live server keeps the state of all messages so far\n${outcomeAsText(view, VIEW)}`,
        'console',
      )
    }
    const stop = run.controller.currentStop
    if (stop !== undefined) this.#showStop({ ...stop, reason: 'step' })
  }

  #exceptionInfo(request: DapRequest): void {
    const { reason, message } = this.#active().run.controller.currentStop ?? {}
    if (reason !== 'difference' || message === undefined)
      throw usageError('the run has not stopped at a difference', 'ask for the variables')
    const description = differencesAsText(this.#shown(message)).trim()
    this.#respond(request, {
      exceptionId: 'difference',
      description,
      breakMode: 'always',
      details: { message: description },
    })
  }

  #handleEvent(event: ControllerEvent): void {
    if (event.type === 'stopped') this.#showStop(event)
    else if (event.type === 'output') this.#print(`${event.text}\n`, 'console', event.frame)
    else if (event.type === 'done' && event.state !== 'skipped') {
      const screen = this.#session?.run.screen
      const findings =
        screen === undefined ? [] : event.findings.map((finding) => redactFinding(finding, screen))
      this.#print(doneAsText({ ...event, findings }, VIEW), 'stdout', event.frame)
    }
  }

  #showStop({ reason, phase, breakpoints, message }: StoppedEvent): void {
    this.#variables.clear()
    const isDifference = reason === 'difference' && message !== undefined
    this.#connection.event('stopped', {
      reason: STOP_REASONS[reason],
      description:
        phase === 'end' ? 'End of the tape' : reason === 'back' ? 'Earlier message, already sent' : 'Stopped',
      threadId: THREAD.id,
      allThreadsStopped: true,
      ...(breakpoints.length > 0 && { hitBreakpointIds: breakpoints }),
      ...(isDifference && { text: differencesAsText(this.#shown(message)).trim() }),
    })
  }

  #print(text: string, category: 'console' | 'stdout' | 'stderr', frame?: number): void {
    const session = this.#session
    const place =
      frame === undefined || session === undefined
        ? {}
        : { line: this.#editorLine(session.lines.lineOf(frame)), source: { path: session.run.tape.path } }
    this.#connection.event('output', { category, output: this.#redacted(text), ...place })
  }

  #active(): DebugSession {
    if (this.#session === undefined) throw usageError('no tape is debugged', 'send launch first')
    return this.#session
  }

  /** The message of a stack frame, or the one that is shown. */
  #viewAt({ arguments: given }: DapRequest): MessageView {
    const { controller } = this.#active().run
    const frame = given['frameId']
    const index = typeof frame === 'number' && frame !== END_FRAME ? frame - 1 : undefined
    const view = controller.show(index)
    if (view === undefined) throw usageError('the run is at the end of the tape', 'choose another frame')
    return this.#shown(view)
  }

  #shown(view: MessageView): MessageView {
    return redactView(view, this.#active().run.screen)
  }

  #redacted(text: string): string {
    return this.#session?.run.screen.text(text) ?? text
  }

  #debugger(print: (text: string) => void): Debugger {
    const { controller } = this.#active().run
    return {
      controller,
      options: VIEW,
      print,
      shown: (view) => this.#shown(view),
      showStop: () => print(`${escapeControlChars(controller.status)}\n`),
      edit: () =>
        Promise.reject(
          usageError('an adapter has no terminal for an editor', 'change the variables of the request'),
        ),
    }
  }

  #respond(request: DapRequest, body?: object): void {
    this.#connection.respond(request, body)
  }
}

const END_FRAME = 2 ** 31 - 1
const MAX_FRAMES = 50
const MAX_COMPLETIONS = 200

const STOP_REASONS: Readonly<Record<StopReason, string>> = {
  entry: 'entry',
  step: 'step',
  back: 'step',
  breakpoint: 'breakpoint',
  difference: 'exception',
  pause: 'pause',
  seek: 'goto',
  failure: 'exception',
  end: 'step',
}

interface Launch {
  readonly tape: string
  readonly command: readonly string[]
  readonly given: GivenOptions
  readonly surroundings: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv }
}

/** Reads the launch entry of an editor. Its members are the tape, the command of the server, and the options of `reelay debug`. */
function readLaunch({ arguments: given }: DapRequest, defaults: AdapterDefaults): Launch {
  const options = Object.keys(DEBUG_RUN_OPTIONS).filter((name) => given[name] !== undefined)
  const chosen = ['tape', 'program', 'command', 'args', 'cwd', 'env', ...options].filter(
    (name) => given[name] !== undefined,
  )
  if (defaults.isFixed && chosen.length > 0)
    throw usageError(
      `the launch entry sets ${chosen.join(', ')}, but on a port the command line of reelay dap decides`,
      'leave them out, or start reelay dap without --port',
    )
  const tape = given['tape'] ?? given['program'] ?? defaults.tape
  if (typeof tape !== 'string')
    throw usageError('the launch entry has no tape', 'add "tape": "<name or path>"')
  const [command, args, env] = [given['command'], given['args'], given['env']]
  const words =
    command === undefined ? defaults.command : [command, ...(Array.isArray(args) ? args : [])].flat()
  if (!words.every((word) => typeof word === 'string'))
    throw usageError(
      'the command of the launch entry is not a list of words',
      'write it like ["node", "server.js"]',
    )
  return {
    tape,
    command: words,
    given: {
      ...defaults.given,
      ...Object.fromEntries(options.map((name) => [name, optionWords(given[name])])),
    },
    surroundings: {
      ...(typeof given['cwd'] === 'string' && { cwd: given['cwd'] }),
      ...(isObject(env) && { env: { ...process.env, ...textMembers(env) } }),
    },
  }
}

/** The values of an option as the command line would have them. */
function optionWords(value: unknown): readonly (string | boolean)[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.map((one) => (typeof one === 'boolean' ? one : String(one)))
}

function textMembers(value: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, String(one)]))
}

function isDifferent({ findings }: MessageView): boolean {
  return findings.some(({ level }) => level === 'error')
}

function numberIn({ arguments: given, command }: DapRequest, name: string): number {
  const value = given[name]
  if (typeof value === 'number') return value
  throw usageError(`${command} needs the number ${name}`, 'see the Debug Adapter Protocol')
}

function listIn({ arguments: given }: DapRequest, name: string): readonly unknown[] {
  const value = given[name]
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}

/** An editor may send the path of a file as a URI. */
function isSameFile(named: string, other: string): boolean {
  try {
    const one = named.startsWith('file://') ? fileURLToPath(named) : named
    return realpathSync(one) === realpathSync(other)
  } catch {
    return resolve(named) === resolve(other)
  }
}
