import { setImmediate as turn } from 'node:timers/promises'
import { ReelayError } from '../../errors.ts'
import type { Stop } from '../../replay/stops.ts'
import { isCi } from '../../serve/ci.ts'
import type { ReportRedactor } from '../../serve/redaction/report-redactor.ts'
import { indentJson } from '../../report/layout-json.ts'
import { truncateText, escapeControlChars, escapeControlCharsInJson } from '../../text.ts'
import { withTerminal, requireTerminal, type AskQuestion } from '../output/terminal.ts'
import type { ReplayFlags } from '../options/replay-options.ts'

/** Says what becomes of each message of a stepped run, as whoever sits at the terminal wants it. */
export type OnStop = (stop: Stop) => void

/** Runs with someone at the terminal who lets each message go; refused where nobody sits. */
export function runStepped<Result>(
  run: (onStop: OnStop) => Promise<Result>,
  screen: Pick<ReportRedactor, 'text'>,
): Promise<Result> {
  return withTerminal((ask) => run((stop) => void promptAtStop(redactStop(stop, screen), ask)), TERMINAL_NEED)
}

/** A stop as it may be shown. */
export function redactStop(stop: Stop, screen: Pick<ReportRedactor, 'text'>): Stop {
  return { ...stop, text: stop.text && screen.text(stop.text) }
}

/** Before anything is started: a stepped run is for somebody at a terminal, who is asked one thing at a time. */
export function requireInteractive({ onAsk }: Pick<ReplayFlags, 'onAsk'>): void {
  if (isCi())
    throw steppedRefused('a stepped run waits for somebody, and the variable CI says that nobody is there')
  requireTerminal(TERMINAL_NEED)
  if (onAsk === 'ask') throw steppedRefused('--on-ask ask and a stepped run would both ask at the terminal')
}

function steppedRefused(problem: string): ReelayError {
  return new ReelayError('USAGE', problem, { hint: INSTEAD })
}

const INSTEAD = 'choose another --pace, such as fast or 100ms; --dry-run shows what would be sent'
const TERMINAL_NEED = { needs: '--pace stepped', instead: INSTEAD }

/** Shows a message and asks until it is clear what becomes of it. */
export async function promptAtStop(stop: Stop, ask: AskQuestion): Promise<void> {
  await turn() // what came of the messages before is told first
  for (let shown = shortStopText(stop); ;) {
    const word = ((await ask(`${shown}\n  [N]ext, skip, continue, quit, show: `)) ?? 'quit')
      .trim()
      .toLowerCase()
    const found = STOP_COMMANDS.find((one) => one.startsWith(word === '' ? 'next' : word))
    if (found === 'show') shown = fullStopText(stop)
    else if (found !== undefined) return STOP_ACTIONS[found](stop)
  }
}

const STOP_COMMANDS = ['next', 'skip', 'show', 'continue', 'quit'] as const

const STOP_ACTIONS: Readonly<Record<Exclude<(typeof STOP_COMMANDS)[number], 'show'>, (stop: Stop) => void>> =
  {
    next: (stop) => stop.next(),
    skip: (stop) => stop.skip(),
    continue: (stop) => stop.goOn(),
    quit: (stop) => stop.quit(),
  }

function shortStopText(stop: Stop): string {
  return `${stopTitle(stop)}\n  ${stop.text === undefined ? UNBOUND_TEXT : truncateText(stop.text, MAX_STOP_WIDTH)}`
}

function fullStopText(stop: Stop): string {
  const message = stop.text === undefined ? UNBOUND_TEXT : indentJson(escapeControlCharsInJson(stop.text))
  return `${stopTitle(stop)}\n${message}`
}

const MAX_STOP_WIDTH = 200
const UNBOUND_TEXT = '(it cannot be sent: a value that the live server makes up is not known)'

function stopTitle({ frame, method, tool }: Stop): string {
  return escapeControlChars(`next: #${frame} ${tool === undefined ? method : `${method} ${tool}`}`)
}
