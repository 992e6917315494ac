import { ReelayError } from '../../errors.ts'
import type { StdioLinkOptions } from '../../link/stdio.ts'
import type { RecordingSummary } from '../../record/tape-log.ts'
import type { ReplayTarget } from '../../replay/options.ts'
import { commandTarget, sseTarget, urlTarget } from '../../replay/targets.ts'
import { escapeControlChars } from '../../text.ts'
import { headerRecord } from '../options/option-types.ts'
import { usageError } from '../options/option.ts'
import type { ReplayFlags } from '../options/replay-options.ts'

/** The live server that the user named: either a command or a URL. */
export function readReplayTarget(
  command: readonly string[],
  { url, sse, header = [] }: ReplayFlags,
  onStderr: (chunk: Uint8Array) => void = (chunk) => void process.stderr.write(chunk),
  surroundings: Pick<StdioLinkOptions, 'cwd' | 'env'> = {},
): ReplayTarget {
  const [file, ...args] = command
  if (file !== undefined && url === undefined)
    return commandTarget([file, ...args], { onStderr, ...surroundings })
  if (url === undefined || file !== undefined) throw targetUsageError(file !== undefined)
  const headers = headerRecord(header)
  return sse ? sseTarget(url, { headers }) : urlTarget(url, { headers })
}

/** Stderr of the live server. It would bury the report, so only its length is shown, unless `-v` is given or the run fails. */
export class FoldedStderr {
  readonly #isShown: boolean
  #last = ''
  #lines = 0

  constructor(isShown: boolean) {
    this.#isShown = isShown
  }

  add(chunk: Uint8Array): void {
    if (this.#isShown) return void process.stderr.write(chunk)
    const text = Buffer.from(chunk).toString('utf8')
    this.#lines += text.split('\n').length - 1
    this.#last = (this.#last + text).slice(-MAX_STDERR_CHARACTERS)
  }

  /** Shows the last lines, which most often say why a server failed. */
  showEnd(): void {
    if (this.#last.trim() === '') return
    const lines = this.#last.trimEnd().split('\n').slice(-MAX_STDERR_LINES)
    process.stderr.write(lines.map((line) => `server: ${escapeControlChars(line)}\n`).join(''))
  }

  close(): void {
    if (this.#lines === 0) return
    const [count, them] = this.#lines === 1 ? ['1 line', 'it'] : [`${this.#lines} lines`, 'them']
    process.stderr.write(`reelay: the server wrote ${count} on stderr; -v shows ${them}\n`)
  }
}

const MAX_STDERR_CHARACTERS = 10_000
const MAX_STDERR_LINES = 20

function targetUsageError(both: boolean): ReelayError {
  return both
    ? usageError('a URL and a server command are both given', 'use one of them')
    : usageError(
        'no live server is given',
        'put its command at the end, after --, as in: -- node server.js; or give its --url',
      )
}

/** Prints the path of the tape of a run. */
export function printRunTape(end: RecordingSummary | undefined): void {
  if (end === undefined) return
  const { path, loss } = end
  if (path === undefined)
    return void process.stderr.write(`reelay: there is no tape of this run: ${loss?.why}\n`)
  process.stderr.write(`reelay: the tape of this run is ${path}\n`)
  if (loss !== undefined) process.stderr.write(`reelay: the tape is incomplete: ${loss.why}\n`)
}
