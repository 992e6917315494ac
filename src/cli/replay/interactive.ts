import { exchangeLabel } from '../../tape/turns.ts'
import { setImmediate as turn } from 'node:timers/promises'
import type { ReplayFlags } from '../options/replay-options.ts'
import { createOutputRedactor } from '../output/redact-output.ts'
import { withTerminal, requireTerminal, type AskQuestion, askOneQuestion } from '../output/terminal.ts'
import { ReelayError } from '../../errors.ts'
import { canonicalJson } from '../../json/canonical.ts'
import { parseJson, isObject } from '../../json/parse.ts'
import type { Request } from '../../protocol/message.ts'
import type { ReplayController } from '../../replay/control/controller.ts'
import type { Stop } from '../../replay/control/stops.ts'
import { hasFailed, type ReplayStep } from '../../replay/steps/step.ts'
import { indentJson } from '../../report/json-text.ts'
import type { ReportRedactor } from '../../serve/redaction/report-redactor.ts'
import { isCi } from '../../serve/upstream/upstream.ts'
import { truncateText, escapeControlChars, escapeControlCharsInJson } from '../../text.ts'

/** Decides about each message of a stepped run. */
type OnStop = (stop: Stop) => void

/** Runs while the user at the terminal decides about each message. Throws without a terminal. */
export function runStepped<Result>(
  run: (onStop: OnStop) => Promise<Result>,
  screen: Pick<ReportRedactor, 'text'>,
): Promise<Result> {
  return withTerminal((ask) => run((stop) => void promptAtStop(redactStop(stop, screen), ask)), TERMINAL_NEED)
}

/** A stop without secrets. */
export function redactStop(stop: Stop, screen: Pick<ReportRedactor, 'text'>): Stop {
  return { ...stop, text: stop.text && screen.text(stop.text) }
}

/** Rejects a stepped run before anything is started: it needs a user at a terminal, and only one option may ask questions. */
export function requireInteractive({ onAsk }: Pick<ReplayFlags, 'onAsk'>): void {
  if (isCi()) throw steppedRefused('a stepped run needs a user at the terminal, and CI is set')
  requireTerminal(TERMINAL_NEED)
  if (onAsk === 'ask') throw steppedRefused('--on-ask ask and a stepped run would both ask at the terminal')
}

function steppedRefused(problem: string): ReelayError {
  return new ReelayError('USAGE', problem, { hint: INSTEAD })
}

const INSTEAD = 'choose another --pace, such as none or 100ms; --dry-run shows what would be sent'
const TERMINAL_NEED = { needs: '--pace stepped', instead: INSTEAD }

/** Shows a message and asks until the user has decided. */
export async function promptAtStop(stop: Stop, ask: AskQuestion): Promise<void> {
  await turn() // results of earlier messages are printed first
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
const UNBOUND_TEXT = '(it cannot be sent: a value that the live server creates is not known)'

function stopTitle(stop: Stop): string {
  const { method, tool } = stop
  return escapeControlChars(
    `next: ${exchangeLabel(stop)} ${tool === undefined ? method : `${method} ${tool}`}`,
  )
}

/** After a failed step, asks at the terminal whether to go on. Without a terminal, stops. */
export function pauseOnFailure(controller: ReplayController): (step: ReplayStep) => void {
  let isAsking = false
  return (step) => {
    if (isAsking || !hasFailed(step)) return
    isAsking = true
    void askToContinue(controller, step).finally(() => (isAsking = false))
  }
}

async function askToContinue(controller: ReplayController, { index, method }: ReplayStep): Promise<void> {
  await turn() // if the last step failed, the run is over by then
  if (controller.status !== 'paused') return
  const failed = `step ${index} (${method}) is not as recorded`
  if (!process.stdin.isTTY) {
    process.stderr.write(
      `reelay: ${failed}, and there is no terminal to ask whether to continue: the run stops\n`,
    )
    return controller.stop()
  }
  const answer = await askOneQuestion(`${failed}; go on? [Y/n] `, controller.stopped)
  if (answer === undefined || /^n/i.test(answer.trim())) controller.stop()
  else controller.resume()
}

/** Shows a request of the server at the terminal and returns the answer of the user. */
export function askOnTerminal(stop: AbortSignal): (request: Request) => Promise<object> {
  if (!process.stdin.isTTY)
    throw new ReelayError('USAGE', '--on-ask ask needs a terminal, and there is none', {
      hint: 'choose --on-ask decline or --on-ask fail',
    })
  return async ({ method, params }) => {
    const asked = indentJson(escapeControlCharsInJson(canonicalJson(params)))
    process.stderr.write(createOutputRedactor()(`the server asks ${escapeControlChars(method)}:\n${asked}\n`))
    for (;;) {
      const answer = await askOneQuestion('the result, as a JSON object: ', stop)
      if (answer === undefined) throw new Error('the input ended')
      const value = parseJson(answer)
      if (isObject(value)) return value
      process.stderr.write('that is not a JSON object\n')
    }
  }
}
