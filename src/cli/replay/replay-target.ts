import { ReelayError } from '../../errors.ts'
import type { StdioLinkOptions } from '../../link/stdio.ts'
import type { OpenLink } from '../../link/client-link.ts'
import type { RecordingSummary } from '../../record/tape-log.ts'
import { DEFAULT_START_TIMEOUT, type ReplayTarget } from '../../replay/options.ts'
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
  if (file === '' && url === undefined)
    throw usageError(
      'the server command is empty',
      'after -- there is an empty word: is a shell variable not set?',
    )
  if (file !== undefined && url === undefined)
    return commandTarget([file, ...args], { onStderr, ...surroundings })
  if (url === undefined || file !== undefined) throw targetUsageError(file !== undefined)
  const headers = headerRecord(header)
  return sse ? sseTarget(url, { headers }) : urlTarget(url, { headers })
}

/** Tells the user why nothing happens if a server is silent for some seconds after its start. */
export function announceWaiting(
  target: ReplayTarget,
  startTimeout: number | undefined,
  stderr: FoldedStderr,
): ReplayTarget {
  const limit = (startTimeout ?? DEFAULT_START_TIMEOUT) / 1000
  let isAnnounced = limit * 1000 <= SILENCE_MS
  const open: OpenLink = async (handlers) => {
    const timer = setTimeout(() => {
      const { address } = stderr
      const http = address === undefined ? '' : `; ${overHttpHint(address)}`
      if (!isAnnounced)
        process.stderr.write(
          `reelay: no answer from the server yet; waiting up to ${limit} s for it to start (--start-timeout)${http}\n`,
        )
      isAnnounced = true
    }, SILENCE_MS).unref()
    const stop = (): void => clearTimeout(timer)
    handlers.signal?.addEventListener('abort', stop, { once: true })
    return target.open({
      ...handlers,
      onText: (...received) => (stop(), handlers.onText(...received)),
      onLost: (...lost) => (stop(), handlers.onLost(...lost)),
      onEnd: (why) => (stop(), handlers.onEnd(why)),
    })
  }
  return { ...target, open }
}

const SILENCE_MS = 5_000

/** Stderr of the live server. It would bury the report, so only its length is shown, unless `-v` is given or the run fails. */
export class FoldedStderr {
  readonly #isShown: boolean
  #last = ''
  #lines = 0

  constructor(isShown: boolean) {
    this.#isShown = isShown
  }

  add(chunk: Uint8Array): void {
    if (this.#isShown) process.stderr.write(chunk)
    const text = Buffer.from(chunk).toString('utf8')
    this.#lines += text.split('\n').length - 1
    this.#last = (this.#last + text).slice(-MAX_STDERR_CHARACTERS)
  }

  /** Shows the last lines, which most often say why a server failed, and adds to the error what they tell. */
  explained(error: unknown): unknown {
    const lines = this.#last.trimEnd().split('\n').slice(-MAX_STDERR_LINES)
    if (this.#last.trim() !== '' && !this.#isShown)
      process.stderr.write(lines.map((line) => `server: ${escapeControlChars(line)}\n`).join(''))
    if (!(error instanceof ReelayError) || error.code !== 'TARGET_REFUSED') return error
    const hint = hintFrom(this.#last, error)
    return hint === undefined ? error : new ReelayError(error.code, error.message, { hint, cause: error })
  }

  /** The address at which the server says that it listens. */
  get address(): string | undefined {
    return localAddress(this.#last)
  }

  close(): void {
    if (this.#lines === 0 || this.#isShown) return
    const [count, them] = this.#lines === 1 ? ['1 line', 'it'] : [`${this.#lines} lines`, 'them']
    process.stderr.write(`reelay: the server wrote ${count} on stderr; -v shows ${them}\n`)
  }
}

function hintFrom(stderr: string, { message }: ReelayError): string | undefined {
  const isOnStdout = message.includes('on stdout')
  const address = localAddress(isOnStdout ? message : stderr)
  if (address !== undefined) return overHttpHint(address)
  return stderr.trim() !== '' && /the server ended/.test(message) && !isOnStdout
    ? 'what the server wrote on stderr, above, may say why'
    : undefined
}

/** A server that says where it listens, and is silent on stdout, was most likely started without its option for stdio. */
function overHttpHint(address: string): string {
  const url = new URL(address).pathname === '/' ? new URL('/mcp', address).href : address
  return `this may be a server over HTTP: start it yourself, and use --url ${url} instead of the command; or look for its option for stdio`
}

function localAddress(text: string): string | undefined {
  const [found] =
    /\bhttps?:\/\/(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):\d+(?:\/[\w/-]*)?/.exec(text) ?? []
  return found?.replace('0.0.0.0', '127.0.0.1').replace('[::]', '[::1]')
}

const MAX_STDERR_CHARACTERS = 10_000
const MAX_STDERR_LINES = 20

function targetUsageError(both: boolean): ReelayError {
  return both
    ? usageError('a URL and a server command are both given', 'use one of them')
    : usageError(
        'no live server is given',
        'put its command at the end, after --, as in: -- node server.js; or give its --url. To be the server of the tape instead: reelay serve',
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
