import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { inspect, stripVTControlCharacters, styleText } from 'node:util'
import { withDocsPaths } from '../reelay-command.ts'
import { clearProgress } from './progress.ts'
import { createOutputRedactor } from './redact-output.ts'
import { errorMessage, ReelayError } from '../../errors.ts'
import { escapeControlChars } from '../../text.ts'

/** Writes a result to stdout. */
export function print(text: string): void {
  clearProgress()
  process.stdout.write(text)
}

/** Writes text for people. On a terminal, a line that is too long continues below its last column. */
export function printText(text: string): void {
  const { isTTY, columns } = process.stdout
  print(isTTY ? wrapColumns(text, columns || 80) : text)
}

/** Writes a report for people, like `printText`. */
export async function printReport(pieces: Iterable<string>): Promise<void> {
  const { isTTY, columns } = process.stdout
  if (!isTTY) return printChunks(pieces)
  const wrapped = (function* wrap() {
    for (const piece of pieces) yield wrapColumns(piece, columns || 80)
  })()
  return printChunks(wrapped)
}

/** Wraps lines at words. Columns are separated by two spaces or more. A command is not wrapped, so that it can be copied. */
export function wrapColumns(text: string, width: number): string {
  return text.replaceAll(/.+/g, (line) =>
    visibleLength(line) <= width || /\breelay [a-z]/.test(line) ? line : wrapLine(line, width),
  )
}

function wrapLine(line: string, width: number): string {
  const margin = line.search(/\S|$/)
  const columns = [...line.matchAll(/ {2,}(?=\S)/g)].map(({ index, 0: gap }) => index + gap.length)
  const start = columns.findLast((at) => at > margin && visibleLength(line.slice(0, at)) < width / 2) ?? 0
  const indent = start > 0 ? visibleLength(line.slice(0, start)) : Math.min(margin + 2, width / 2)
  const lines = [line.slice(0, start || margin)]
  for (const word of line.slice(start || margin).split(' ')) {
    const last = lines.at(-1) ?? ''
    const isFirst = last.trim() === '' || (lines.length === 1 && last.length === start)
    const joined = isFirst ? last + word : `${last} ${word}`
    if (isFirst || visibleLength(joined) <= width) lines[lines.length - 1] = joined
    else lines.push(' '.repeat(indent) + word)
  }
  return lines.join('\n')
}

function visibleLength(text: string): number {
  return stripVTControlCharacters(text).length
}

/** Ignores that a reader closes our output early, as in `| head`. Other errors, such as a full disk, are reported. */
export function ignoreClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') reportLostOutput(error)
  })
  process.stderr.on('error', () => {}) // there is nowhere left to report it
}

/** The result of the command counts for nothing if it could not be written. A command sets its exit code later than this. */
function reportLostOutput(error: NodeJS.ErrnoException): void {
  if (isOutputLost) return
  isOutputLost = true
  reportError(
    new ReelayError('REPORT_UNWRITABLE', `the output cannot be written: ${errorMessage(error)}`, {
      hint: 'check where stdout goes, and whether there is space left',
      cause: error,
    }),
  )
  const { exitCode } = process
  process.once('exit', () => (process.exitCode = exitCode))
}

let isOutputLost = false

/** Writes a result of any length to stdout, as fast as it is read. Stops if the reader closes the output. */
export async function printChunks(
  pieces: Iterable<string>,
  redact: (text: string) => string = String,
): Promise<void> {
  clearProgress()
  const closed = new AbortController()
  const onError = (): void => closed.abort()
  process.stdout.once('error', onError)
  for (const block of joinedChunks(pieces)) {
    if (closed.signal.aborted) return
    if (!process.stdout.write(redact(block))) await waitForDrain(closed.signal)
  }
  process.stdout.off('error', onError)
}

/**
 * Prints a table. On a terminal its lines are as long as the terminal is wide, and a table that is longer than the terminal is shown in a
 * pager: `REELAY_PAGER`, `PAGER` or `less`. An empty one switches the pager off.
 */
export async function printTable(
  pieces: Iterable<string>,
  redact: (text: string) => string = String,
): Promise<void> {
  const { isTTY, columns, rows } = process.stdout
  if (!isTTY) return printChunks(pieces, redact)
  clearProgress()
  const lines = fittedLines(pieces, redact, columns || 80)
  const head: string[] = []
  for (const line of lines) {
    head.push(line)
    if (head.length >= (rows || 24)) break
  }
  const all = (function* all() {
    yield* head
    yield* lines
  })()
  const pager = process.env['REELAY_PAGER'] ?? process.env['PAGER'] ?? 'less'
  if (head.length < (rows || 24) || pager === '' || pager === 'cat') return printChunks(all)
  if (!(await pageChunks(pager, all))) await printChunks(all)
}

/** Lines that are not longer than a width. A generator that is left with `break` would end, so it is read by hand. */
function fittedLines(
  pieces: Iterable<string>,
  redact: (text: string) => string,
  width: number,
): IterableIterator<string> {
  const lines = (function* lines() {
    for (const block of joinedChunks(pieces))
      for (const line of redact(block).split(/(?<=\n)/)) yield fitLine(line, width)
  })()
  return {
    next: () => lines.next(),
    [Symbol.iterator]() {
      return this
    },
  }
}

// oxlint-disable-next-line eslint/no-control-regex -- styles begin with an escape character
const STYLE_OR_CHARACTER = /\u001b\[[\d;]*m|./gsu

/** Shortens a line to a width. Styles take no room. */
function fitLine(line: string, width: number): string {
  if (line.length <= width) return line
  const end = line.endsWith('\n') ? '\n' : ''
  let [text, room, isStyled] = ['', width, false]
  for (const [part] of line.slice(0, line.length - end.length).matchAll(STYLE_OR_CHARACTER)) {
    if (part.startsWith('\u001b[')) isStyled = true
    else if (--room < 0) return `${text.replace(/.$/su, '…')}${isStyled ? '\u001b[0m' : ''}${end}`
    text += part
  }
  return text + end
}

/** Returns false if there is no such pager. */
async function pageChunks(pager: string, pieces: Iterable<string>): Promise<boolean> {
  const child = spawn(pager, {
    shell: true,
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', ...process.env },
  })
  const ended = once(child, 'close')
  const closed = new AbortController()
  child.stdin.once('error', () => closed.abort()) // the user left the pager
  process.on('SIGINT', ignoreSignal) // less takes Ctrl+C for itself
  try {
    for (const block of joinedChunks(pieces)) {
      if (closed.signal.aborted) break
      if (!child.stdin.write(block))
        await once(child.stdin, 'drain', { signal: closed.signal }).catch(() => {})
    }
    child.stdin.end()
    const [code] = (await ended) as [number | null]
    return code !== NO_SUCH_COMMAND
  } finally {
    process.off('SIGINT', ignoreSignal)
  }
}

const NO_SUCH_COMMAND = 127

function ignoreSignal(): void {}

const CHUNK_CHARACTERS = 1024 * 1024

/** Joins small pieces, because every write is a system call. */
export function* joinedChunks(pieces: Iterable<string>): Generator<string> {
  let block: string[] = []
  let characters = 0
  for (const piece of pieces) {
    block.push(piece)
    characters += piece.length
    if (characters < CHUNK_CHARACTERS) continue
    yield block.join('')
    block = []
    characters = 0
  }
  if (block.length > 0) yield block.join('')
}

async function waitForDrain(signal: AbortSignal): Promise<void> {
  await once(process.stdout, 'drain', { signal }).catch(() => {}) // the reader is gone
}

type Colour = 'red' | 'yellow' | 'green' | 'dim' | 'cyan'

/** Text for stderr: coloured on a terminal, plain in a pipe. */
export function colourText(colour: Colour, text: string): string {
  return styleText(colour, text, { stream: process.stderr })
}

/** The miss report with its labels coloured. */
export function colourMissReport(report: string): string {
  return colourLines(report, [
    [/^REPLAY MISS/, 'red'],
    [/^ {2}~.*/, 'yellow'],
    [/^ {2}=.*/, 'dim'],
    [/^fixes.*/, 'green'],
    [/^ {13}.*/, 'green'],
    [/^\w+/, 'cyan'],
  ])
}

/** Colours the differences in a drift report. */
export function colourDriftReport(report: string): string {
  return colourLines(report, [
    [/^(not requested|missed):/, 'yellow'],
    [/^note:/, 'dim'],
  ])
}

type ColourRule = readonly [pattern: RegExp, colour: Colour]

function colourLines(report: string, rules: readonly ColourRule[]): string {
  return report
    .split('\n')
    .map((line) => colourLine(line, rules))
    .join('\n')
}

function colourLine(line: string, rules: readonly ColourRule[]): string {
  const [pattern, colour] = rules.find(([candidate]) => candidate.test(line)) ?? []
  if (pattern === undefined || colour === undefined) return line
  return line.replace(pattern, (part) => colourText(colour, part))
}

/** Prints an error with its hint and sets the exit code. Only REELAY_DEBUG shows a stack trace. */
export function reportError(thrown: unknown): void {
  const error = asReelayError(thrown)
  clearProgress()
  const label = styleText('red', `reelay: ${error.code}`, { stream: process.stderr })
  const shown = createOutputRedactor()
  process.stderr.write(`${label} ${escapeControlChars(shown(error.message))}\n`)
  const hint = error.hint === undefined ? undefined : withDocsPaths(shown(error.hint))
  if (hint !== undefined) process.stderr.write(`  hint: ${escapeControlChars(hint)}\n`)
  if (process.env['REELAY_DEBUG'] !== undefined) process.stderr.write(`${shown(inspect(thrown))}\n`)
  process.exitCode = error.exitCode
}

function asReelayError(thrown: unknown): ReelayError {
  if (thrown instanceof ReelayError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const hint = 'set REELAY_DEBUG=1 to see where it happened, and please report it'
  return new ReelayError('UNEXPECTED', message, { hint, cause: thrown })
}
