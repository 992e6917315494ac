import { ReelayError } from '../../errors.ts'
import { jsonLeaves } from '../../json/find-replace.ts'
import { isObject, member, parseJson } from '../../json/parse.ts'
import { formatPath, parsePath, valuesAtPattern } from '../../json/path.ts'
import type {
  Breakpoint,
  BreakpointSpec,
  MessageEdit,
  MessageView,
  SeekTarget,
} from '../../replay/control/commands.ts'
import type { ReplayController } from '../../replay/control/controller.ts'
import {
  bindingsAsList,
  differencesAsText,
  messageName,
  outcomeAsText,
  recordedAsText,
  requestAsText,
  responseAsText,
  type DebugViewOptions,
} from '../../report/debug-view.ts'
import { indentJson } from '../../report/json-text.ts'
import { formatDuration } from '../../report/table.ts'
import { escapeControlChars, escapeControlCharsInJson, parseDuration, suggestName } from '../../text.ts'
import { usageError } from '../options/option.ts'
import { printText } from '../output/print.ts'

/** What a command of the debugger works with. */
export interface Debugger {
  readonly controller: ReplayController
  readonly options: DebugViewOptions
  readonly print: (text: string) => void
  /** A message without secrets. */
  readonly shown: (view: MessageView) => MessageView
  /** Shows where the run has stopped. */
  showStop(): void
  /** Opens an editor on a JSON text; resolves with `undefined` if nothing was changed. */
  edit(text: string): Promise<string | undefined>
}

interface DebuggerCommand {
  readonly name: string
  readonly aliases?: readonly string[]
  readonly args?: string
  readonly help: string
  /** The words that can follow the name. */
  readonly words?: (debug: Debugger) => readonly string[]
  run(rest: string, debug: Debugger): Promise<void> | void
}

/** The commands, in the order of `help`. */
const COMMANDS: readonly DebuggerCommand[] = [
  {
    name: 'next',
    aliases: ['n'],
    help: 'Send the message and stop at the next one',
    run: (_, { controller }) => controller.step(),
  },
  {
    name: 'step',
    aliases: ['s'],
    help: 'Send the message and stop at its response, then at the next message',
    run: (_, { controller }) => controller.step('message'),
  },
  {
    name: 'continue',
    aliases: ['c', 'resume'],
    help: 'Continue to the next breakpoint or to the end. Ctrl+C pauses',
    run: (_, { controller }) => controller.resume(),
  },
  {
    name: 'pause',
    help: 'Stop before the next message',
    run: (_, { controller }) => controller.pause(),
  },
  {
    name: 'back',
    aliases: ['sb'],
    help: 'Show the previous message. Nothing is sent, and the live server keeps its state',
    run: (_, { controller }) => controller.stepBack(),
  },
  {
    name: 'reverse',
    aliases: ['rc'],
    help: 'Go back to the last message at which a breakpoint holds',
    run: (_, { controller }) => controller.runBack(),
  },
  {
    name: 'goto',
    aliases: ['seek'],
    args: '#38 | frame 76 | 12s | 50% | start | end',
    help: 'Go to a message: forward by sending those in between, back without sending anything',
    words: exchangeNames,
    run: (rest, { controller }) => controller.seek(readTarget(rest)),
  },
  {
    name: 'break',
    aliases: ['b'],
    args: '[filter | difference | frame 76]',
    help: 'Stop at messages that match a filter, e.g. #38, tool:search, result.total > 100; alone: list breakpoints',
    words: filterWords,
    run: addBreakpoint({}),
  },
  {
    name: 'tbreak',
    args: 'filter | difference | frame 76',
    help: 'Like break, but only once',
    words: filterWords,
    run: addBreakpoint({ once: true }),
  },
  {
    name: 'log',
    args: '"text {result.total}" [filter]',
    help: 'Print a text at messages that match a filter, without stopping',
    run: addLogpoint,
  },
  {
    name: 'delete',
    aliases: ['d'],
    args: '<number> | all',
    help: 'Remove a breakpoint, or all of them',
    words: ({ controller }) => [...controller.breakpoints.map(({ id }) => String(id)), 'all'],
    run: removeBreakpoints,
  },
  {
    name: 'show',
    aliases: ['p', 'print'],
    args: '[request | response | difference | bindings | recorded | all | <path>]',
    help: 'Show the message in full, or the value at a path, e.g. result.content[0].text',
    words: (debug) => [...SECTIONS.keys(), ...pathsIn(debug)],
    run: show,
  },
  {
    name: 'list',
    aliases: ['l'],
    help: 'List the messages around this one',
    run: listMessages,
  },
  {
    name: 'edit',
    aliases: ['e'],
    help: 'Open $VISUAL or $EDITOR on the message that is shown. One that was already sent is sent again only by resend',
    run: editMessage,
  },
  {
    name: 'set',
    args: '<path> <value>',
    help: 'Change a value of the message that is shown, e.g. set params.arguments.q "milk"; resend sends one again that was already sent',
    words: (debug) => requestPaths(debug),
    run: (rest, debug) => {
      const [path, value] = splitWord(rest)
      if (path === '' || value === '')
        throw usageError('set needs a path and a value', 'as in set params.arguments.q "milk"')
      const json = parseJson(value)
      modify({ kind: 'set', path, value: json === undefined ? value : json }, debug)
    },
  },
  {
    name: 'unset',
    args: '<path>',
    help: 'Remove a value of the message that is shown',
    words: (debug) => requestPaths(debug),
    run: (path, debug) => modify({ kind: 'remove', path }, debug),
  },
  {
    name: 'reset',
    help: 'Take back the changes of the message that is shown',
    run: (_, debug) => modify({ kind: 'reset' }, debug),
  },
  {
    name: 'skip',
    help: 'Do not send the message, and stop at the next one',
    run: (_, { controller }) => {
      requireUnsent('skip', controller)
      controller.modifyNext({ kind: 'skip' })
      controller.step()
    },
  },
  {
    name: 'fail',
    args: '<code> <message>',
    help: 'Do not send the message, take an error as its response, and stop at the next one',
    run: (rest, { controller }) => {
      const [code, message] = splitWord(rest)
      if (!/^-?\d+$/.test(code))
        throw usageError('fail needs the number of an error', 'as in fail -32000 overloaded')
      requireUnsent('fail', controller)
      controller.modifyNext({
        kind: 'error',
        code: Number(code),
        message: message === '' ? 'an error' : message,
      })
      controller.step()
    },
  },
  {
    name: 'resend',
    help: 'Send a message again that was already sent, with its changes of edit and set. The live server keeps its state',
    run: resend,
  },
  {
    name: 'inject',
    args: '<message>',
    help: 'Send a message that is not on the tape, e.g. inject {"method":"tools/list"}',
    run: inject,
  },
  {
    name: 'speed',
    args: 'fast | original | x2 | 100ms | 50rps',
    help: 'Change the pace of continue',
    words: () => ['fast', 'original', 'x2', '100ms', '50rps'],
    run: (rest, { controller }) => controller.setSpeed(rest),
  },
  { name: 'status', help: 'Show the progress of the run', run: showStatus },
  {
    name: 'info',
    aliases: ['i'],
    args: '[breakpoints]',
    help: 'Show the progress of the run, or list the breakpoints',
    words: () => ['breakpoints'],
    run: (rest, debug) => {
      if (rest !== '' && 'breakpoints'.startsWith(rest))
        return debug.print(breakpointList(debug.controller.breakpoints))
      return showStatus(rest, debug)
    },
  },
  {
    name: 'where',
    aliases: ['w'],
    help: 'Show the message at which the run has stopped again',
    run: (_, debug) => debug.showStop(),
  },
  {
    name: 'help',
    aliases: ['h', '?'],
    args: '[command]',
    help: 'Explain the commands',
    words: () => COMMANDS.map(({ name }) => name),
    run: (rest) => printText(helpText(rest)),
  },
  {
    name: 'quit',
    aliases: ['q', 'exit'],
    help: 'Stop the run and end the server',
    run: (_, { controller }) => controller.stop(),
  },
]

/** Executes a line. Throws a `ReelayError` if it is not a command, or if the command is not possible now. */
export async function runDebuggerLine(line: string, debug: Debugger): Promise<void> {
  const [word, rest] = splitWord(line.trim())
  await findCommand(word).run(rest, debug)
}

/** Returns true if a line begins with the name of a command. */
export function isDebuggerCommand(line: string): boolean {
  const [word] = splitWord(line)
  return COMMANDS.some((each) => isNamed(each, word))
}

/** Returns the words that complete a line, and the part of the line that they replace. */
export function completeDebuggerLine(line: string, debug: Debugger): readonly [readonly string[], string] {
  const [, word = '', typed] = /^\s*(\S*)(?:\s+(.*))?$/s.exec(line) ?? []
  if (typed === undefined) {
    const names = COMMANDS.flatMap(({ name, aliases = [] }) => [
      name,
      ...aliases.filter((each) => each.length > 2),
    ])
    return [names.filter((name) => name.startsWith(word)).map((name) => `${name} `), word]
  }
  const last = typed.split(/\s+/).at(-1) ?? ''
  const words = COMMANDS.find((each) => isNamed(each, word))?.words?.(debug) ?? []
  return [words.filter((each) => each.startsWith(last)), last]
}

/** Reads the place of a breakpoint: a filter, `difference`, or `frame 76`. */
export function readBreakpoint(text: string): BreakpointSpec {
  const [, frame] = /^frame (\d{1,15})$/.exec(text) ?? []
  if (frame !== undefined) return { frame: Number(frame) }
  const [, rest] = /^difference(?: (.+))?$/s.exec(text) ?? []
  if (/^difference\b/.test(text)) return { difference: true, ...(rest !== undefined && { filter: rest }) }
  return { filter: text }
}

function findCommand(word: string): DebuggerCommand {
  const exact = COMMANDS.find((each) => isNamed(each, word))
  if (exact !== undefined) return exact
  const begun = COMMANDS.filter(({ name }) => name.startsWith(word))
  const [only] = begun
  if (only !== undefined && begun.length === 1) return only
  const names = COMMANDS.map(({ name }) => name)
  const problem =
    begun.length > 1
      ? `${word} is the beginning of ${begun.map(({ name }) => name).join(', ')}`
      : `there is no command ${word}${suggestName(word, names)}`
  throw usageError(problem, 'help lists the commands')
}

function isNamed({ name, aliases = [] }: DebuggerCommand, word: string): boolean {
  return name === word || aliases.includes(word)
}

function splitWord(text: string): readonly [string, string] {
  const [, word = '', rest = ''] = /^(\S*)\s*(.*)$/s.exec(text) ?? []
  return [word, rest.trim()]
}

function readTarget(text: string): SeekTarget {
  const [, exchange, frame, index, percent] =
    /^(?:#(\d{1,15})|frame (\d{1,15})|index (\d{1,15})|(\d{1,3}(?:\.\d+)?)%)$/.exec(text) ?? []
  if (exchange !== undefined) return { exchange: Number(exchange) }
  if (frame !== undefined) return { frame: Number(frame) }
  if (index !== undefined) return { index: Number(index) }
  if (percent !== undefined) return { percent: Number(percent) }
  if (text === 'start') return { percent: 0 }
  if (text === 'end') return { percent: 100 }
  const time = /[a-z]$/.test(text) ? parseDuration(text) : undefined
  if (time !== undefined) return { time }
  throw usageError(
    `cannot read the place ${JSON.stringify(text)}`,
    'write it like #38, frame 76, 12s, 50%, start or end',
  )
}

function addBreakpoint(more: BreakpointSpec): DebuggerCommand['run'] {
  return (rest, { controller, print }) => {
    if (rest === '') return print(breakpointList(controller.breakpoints))
    print(`${breakpointText(controller.addBreakpoint({ ...readBreakpoint(rest), ...more }))}\n`)
  }
}

function removeBreakpoints(rest: string, { controller, print }: Debugger): void {
  const ids = rest === 'all' ? controller.breakpoints.map(({ id }) => id) : [Number(rest)]
  if (rest === '') throw usageError('delete needs the number of a breakpoint, or all', 'break lists them')
  for (const id of ids) {
    if (!controller.removeBreakpoint(id))
      throw usageError(`there is no breakpoint ${rest}`, 'break lists them')
    print(`breakpoint ${id} is removed\n`)
  }
  if (ids.length === 0) print('no breakpoints\n')
}

function addLogpoint(rest: string, { controller, print }: Debugger): void {
  const [, quoted, filter] = /^("(?:[^"\\]|\\.)*")\s*(.*)$/s.exec(rest) ?? []
  const log = quoted === undefined ? undefined : parseJson(quoted)
  if (typeof log !== 'string')
    throw usageError(
      'log needs a text in quotes',
      'as in log "{params.arguments.q}: {result.total}" tool:search',
    )
  const place = filter === undefined || filter === '' ? {} : readBreakpoint(filter)
  print(`${breakpointText(controller.addBreakpoint({ ...place, log }))}\n`)
}

function breakpointList(all: readonly Breakpoint[]): string {
  return all.length === 0 ? 'no breakpoints\n' : all.map((one) => `${breakpointText(one)}\n`).join('')
}

function breakpointText(breakpoint: Breakpoint): string {
  const { id, filter, frame, difference, once, log, phase, hitCount } = breakpoint
  const place = [
    ...(frame === undefined ? [] : [`frame ${frame}`]),
    ...(difference === true ? ['difference'] : []),
    ...(filter === undefined ? [] : [filter]),
  ].join(' ')
  const kind = log === undefined ? 'breakpoint' : 'logpoint'
  const facts = [
    phase === 'request' ? 'before the request' : 'after the response',
    ...(once === true ? ['once'] : []),
    ...(hitCount > 0 ? [`hit ${hitCount} ${hitCount === 1 ? 'time' : 'times'}`] : []),
  ]
  return escapeControlChars(`${kind} ${id}: ${place === '' ? 'every message' : place} (${facts.join(', ')})`)
}

type Section = (view: MessageView, options: DebugViewOptions) => string

const SECTIONS: ReadonlyMap<string, Section> = new Map<string, Section>([
  ['request', requestAsText],
  ['response', responseAsText],
  ['difference', (view) => differencesAsText(view) || 'nothing is compared yet\n'],
  ['bindings', bindingsAsList],
  ['recorded', recordedAsText],
  [
    'all',
    (view, options) =>
      requestAsText(view, options) +
      (view.isNext ? '' : outcomeAsText(view, options)) +
      recordedAsText(view, options),
  ],
])

function show(rest: string, debug: Debugger): void {
  const view = currentView(debug)
  const options = { ...debug.options, maxLines: Infinity }
  const section = SECTIONS.get(rest)
  if (rest === '')
    return debug.print(requestAsText(view, options) + (view.isNext ? '' : outcomeAsText(view, options)))
  if (section !== undefined) return debug.print(section(view, options))
  const found = valuesAtPattern(viewValues(view), parsePath(rest))
  if (found.length === 0)
    throw usageError(
      `there is no value at ${rest}${suggestName(rest, pathsIn(debug))}`,
      'show prints the whole message',
    )
  for (const value of found) debug.print(`${indentJson(escapeControlCharsInJson(JSON.stringify(value)))}\n`)
}

/** The values of a message by the names that paths begin with. */
export function viewValues(view: MessageView): object {
  const { exchange, frame, method, tool, duration, state } = view
  const [request, response, recorded] = [
    view.request ?? view.recorded,
    view.response,
    view.recordedResponse,
  ].map((text) => (text === undefined ? undefined : parseJson(text)))
  return {
    exchange,
    frame,
    method,
    tool,
    duration,
    state,
    params: member(request, 'params'),
    ...(isObject(response) && response),
    ...(isObject(recorded) && { recorded }),
  }
}

function currentView(debug: Debugger): MessageView {
  const view = debug.controller.show()
  if (view === undefined)
    throw usageError('the run is at the end of the tape', 'back shows the last message, goto #1 the first')
  return debug.shown(view)
}

function listMessages(_: string, debug: Debugger): void {
  const { controller, print } = debug
  const { size } = controller
  const at = controller.state().current?.index ?? size
  const stopped = controller.currentStop?.message?.index
  for (let index = Math.max(0, at - AROUND); index < Math.min(size, at + AROUND + 1); index++) {
    const view = controller.show(index)
    if (view === undefined) continue
    const state = listedState(view)
    const differs = view.findings.some(({ level }) => level === 'error') ? ', differs' : ''
    print(
      `${index === stopped ? '=>' : '  '} ${messageName(view)}${state === '' ? '' : `  (${state}${differs})`}\n`,
    )
  }
}

function listedState({ state, decision, isNext, exchange, duration }: MessageView): string {
  if (state === undefined) return decision.kind === 'send' ? (isNext ? '' : 'no response yet') : decision.kind
  return state === 'done' && exchange !== undefined && duration === undefined ? 'no response' : state
}

const AROUND = 5

/** Changes the message that is shown. */
function modify(action: MessageEdit, debug: Debugger): void {
  const view = debug.controller.modify(action)
  if (view === undefined) return debug.print('the next message will be changed\n')
  const wasSent = !view.isNext
  debug.print(requestAsText({ ...debug.shown(view), isNext: true }, debug.options))
  if (wasSent && view.isEdited)
    debug.print(
      'the message was already sent: "resend" sends the changed one; the live server keeps its state\n',
    )
}

function requireUnsent(what: string, controller: ReplayController): void {
  if (controller.currentStop?.message?.isNext !== true)
    throw usageError(`${what} needs a message that was not sent yet`, 'go to the next message first')
}

async function editMessage(_: string, debug: Debugger): Promise<void> {
  const view = debug.controller.show()
  if (view === undefined) throw usageError('the run is at the end of the tape', 'back shows the last message')
  const text = await debug.edit(debug.controller.editedText(view.index) ?? view.request ?? view.recorded)
  if (text === undefined) return debug.print('the message is unchanged\n')
  modify({ kind: 'replace', message: text }, debug)
}

async function resend(_: string, debug: Debugger): Promise<void> {
  const { controller, print } = debug
  const { message } = await controller.resend()
  if (message === undefined) return
  const view = debug.shown(message)
  print(`sent again: ${messageName(view)}; the live server keeps the state of all messages so far\n`)
  print(requestAsText({ ...view, isNext: false }, debug.options) + outcomeAsText(view, debug.options))
}

async function inject(rest: string, { controller, options, print, shown }: Debugger): Promise<void> {
  if (rest === '') throw usageError('inject needs a message', 'as in inject {"method":"tools/list"}')
  const { sent, response, why, duration } = await controller.inject(rest)
  const view = injectedView({ sent, response, why, duration })
  print(
    `sent: ${escapeControlCharsInJson(shown(view).request ?? '')}\n${responseAsText(shown(view), options)}`,
  )
}

function injectedView(sent: {
  readonly sent: string
  readonly response: string | undefined
  readonly why: string | undefined
  readonly duration: number | undefined
}): MessageView {
  return {
    index: -1,
    frame: 0,
    exchange: sent.response === undefined && sent.why === undefined ? undefined : 0,
    method: '',
    tool: undefined,
    responseFrame: undefined,
    at: 0,
    decision: { kind: 'send' },
    isNext: false,
    recorded: sent.sent,
    request: sent.sent,
    bindings: [],
    isEdited: false,
    recordedResponse: undefined,
    response: sent.response,
    state: 'done',
    why: sent.why,
    duration: sent.duration,
    recordedDuration: undefined,
    findings: [],
  }
}

function showStatus(_: string, { controller, print, options }: Debugger): void {
  const { status, progress, current, open, counts, metrics } = controller.state()
  const lines = [
    `${status}: ${progress.done} of ${progress.total} messages are done (${progress.percent} %)`,
    ...(current === undefined ? [] : [`at ${messageName(current)}`]),
    ...(open.length === 0 ? [] : [`no response yet: ${open.map(messageName).join(', ')}`]),
    `${counts.differences} with differences, ${counts.skipped} skipped, ${counts.held} held back, ${counts.resent} sent again, ${counts.injected} injected`,
    ...(options.showsTimes
      ? [
          `response times: mean ${formatDuration(metrics.mean)}, p95 ${formatDuration(metrics.p95)}, max ${formatDuration(metrics.max)}; ${metrics.pending} pending`,
          `${formatDuration(progress.elapsed)} so far${progress.remaining === undefined ? '' : `, about ${formatDuration(progress.remaining)} left`}`,
        ]
      : []),
  ]
  print(`${lines.join('\n')}\n`)
}

function helpText(name: string): string {
  if (name !== '') {
    const { aliases = [], args = '', help, ...command } = findCommand(name)
    const also = aliases.length === 0 ? '' : `\nalso: ${aliases.join(', ')}`
    return `${`${command.name} ${args}`.trim()}\n  ${help}${also}\n`
  }
  const rows = COMMANDS.map(({ name: word, aliases = [], help }) => {
    const names = [word, ...aliases].join(', ')
    return `  ${names.padEnd(22)} ${help}`
  })
  return `${rows.join('\n')}\nhelp <command> shows what can follow it. An empty line repeats next and step.\n`
}

function exchangeNames({ controller }: Debugger): readonly string[] {
  const names: string[] = []
  for (let index = 0; index < Math.min(controller.size, MAX_NAMES); index++) {
    const exchange = controller.show(index)?.exchange
    if (exchange !== undefined) names.push(`#${exchange}`)
  }
  return names
}

const MAX_NAMES = 500

function filterWords(debug: Debugger): readonly string[] {
  const { controller } = debug
  const words = new Set(['difference', 'frame ', 'status:error', 'duration:>'])
  for (let index = 0; index < Math.min(controller.size, MAX_NAMES); index++) {
    const view = controller.show(index)
    if (view === undefined) continue
    words.add(`method:${view.method}`)
    if (view.tool !== undefined) words.add(`tool:${view.tool}`)
    if (view.exchange !== undefined) words.add(`#${view.exchange}`)
  }
  return [...words, ...pathsIn(debug)]
}

/** The paths of all values of the message that is shown. */
function pathsIn(debug: Debugger): readonly string[] {
  const view = debug.controller.show()
  if (view === undefined) return []
  const response = view.response ?? view.recordedResponse
  return [...requestPaths(debug), ...(response === undefined ? [] : pathsOf(response))]
}

function requestPaths({ controller }: Debugger): readonly string[] {
  const view = controller.show()
  return view === undefined ? [] : pathsOf(view.request ?? view.recorded)
}

function pathsOf(text: string): readonly string[] {
  return [...jsonLeaves(text)]
    .slice(0, MAX_NAMES)
    .map(({ path }) => formatPath(path))
    .filter((path) => /^(params|result|error)\b/.test(path))
}

/** The text of an error, as the debugger shows it. */
export function errorText(error: unknown): string {
  if (!(error instanceof ReelayError))
    return `error: ${error instanceof Error ? error.message : String(error)}\n`
  const hint = error.hint === undefined || error.hint === '' ? '' : ` (${error.hint})`
  return `error: ${escapeControlChars(`${error.message}${hint}`)}\n`
}
