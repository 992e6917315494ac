import { setImmediate as turn } from 'node:timers/promises'
import { ReelayError } from '../../errors.ts'
import type { Stop } from '../../replay/stops.ts'
import { isCi } from '../../serve/ci.ts'
import type { Screen } from '../../serve/screen.ts'
import { layoutJson } from '../../report/layout-json.ts'
import { shortened, visible, visibleJson } from '../../wire/visible.ts'
import { onTerminal, requireTerminal, type Ask } from '../terminal.ts'
import type { ReplayFlags } from './flags.ts'

/** Says what becomes of each message of a stepped run, as whoever sits at the terminal wants it. */
export type OnStop = (stop: Stop) => void

/** Runs with someone at the terminal who lets each message go; refused where nobody sits. */
export function stepping<Result>(
  run: (onStop: OnStop) => Promise<Result>,
  screen: Pick<Screen, 'text'>,
): Promise<Result> {
  return onTerminal((ask) => run((stop) => void decide(screened(stop, screen), ask)), NEEDS)
}

/** A stop as it may be shown. */
export function screened(stop: Stop, screen: Pick<Screen, 'text'>): Stop {
  return { ...stop, text: stop.text && screen.text(stop.text) }
}

/** Before anything is started: a stepped run is for somebody at a terminal, who is asked one thing at a time. */
export function requireSomebody({ onAsk }: Pick<ReplayFlags, 'onAsk'>): void {
  if (isCi()) throw refused('a stepped run waits for somebody, and the variable CI says that nobody is there')
  requireTerminal(NEEDS)
  if (onAsk === 'ask') throw refused('--on-ask ask and a stepped run would both ask at the terminal')
}

function refused(problem: string): ReelayError {
  return new ReelayError('USAGE', problem, { hint: INSTEAD })
}

const INSTEAD = 'choose another --pace, such as fast or 100ms; --dry-run shows what would be sent'
const NEEDS = { needs: '--pace stepped', instead: INSTEAD }

/** Shows a message and asks until it is clear what becomes of it. */
export async function decide(stop: Stop, ask: Ask): Promise<void> {
  await turn() // what came of the messages before is told first
  for (let shown = brief(stop); ;) {
    const word = ((await ask(`${shown}\n  [N]ext, skip, continue, quit, show: `)) ?? 'quit')
      .trim()
      .toLowerCase()
    const found = WORDS.find((one) => one.startsWith(word === '' ? 'next' : word))
    if (found === 'show') shown = whole(stop)
    else if (found !== undefined) return WAYS[found](stop)
  }
}

const WORDS = ['next', 'skip', 'show', 'continue', 'quit'] as const

const WAYS: Readonly<Record<Exclude<(typeof WORDS)[number], 'show'>, (stop: Stop) => void>> = {
  next: (stop) => stop.next(),
  skip: (stop) => stop.skip(),
  continue: (stop) => stop.goOn(),
  quit: (stop) => stop.quit(),
}

function brief(stop: Stop): string {
  return `${headOf(stop)}\n  ${stop.text === undefined ? UNKNOWN : shortened(stop.text, WIDTH)}`
}

function whole(stop: Stop): string {
  const message = stop.text === undefined ? UNKNOWN : layoutJson(visibleJson(stop.text))
  return `${headOf(stop)}\n${message}`
}

const WIDTH = 200
const UNKNOWN = '(it cannot be sent: a value that the live server makes up is not known)'

function headOf({ frame, method, tool }: Stop): string {
  return visible(`next: #${frame} ${tool === undefined ? method : `${method} ${tool}`}`)
}
