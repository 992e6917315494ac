import { ReelayError } from '../errors.ts'
import type { ServeHttpFlags } from './serve/tapes-to-serve.ts'

/** The words of a `serve`: tapes before `--`, the command of a live server behind it. */
export interface ServeArguments {
  readonly names: readonly string[]
  readonly command: readonly string[]
}

/** Commander drops the `--` and gives all words in a row. */
export function splitServeArguments(words: readonly string[], argv: readonly string[]): ServeArguments {
  const cut = argv.indexOf('--')
  const tapes = cut < 0 ? words.length : words.length - (argv.length - cut - 1)
  return { names: words.slice(0, tapes), command: words.slice(tapes) }
}

export interface ServeUsage extends Pick<ServeArguments, 'names'>, ServeHttpFlags {
  readonly stdio?: true
  /** Whether a live server is spoken of. */
  readonly isLive: boolean
}

/** What cannot be meant together. */
export function checkServeUsage({ names, stdio, http, sse, isLive }: ServeUsage): void {
  const isOverHttp = http !== undefined || sse !== undefined
  if (names.length === 0) throw serveUsageError('no tape is named', 'name it before the --')
  if (isOverHttp && stdio)
    throw serveUsageError(
      '--stdio goes with neither --http nor --sse',
      'start it once for each, or leave --stdio out',
    )
  if (isLive && names.length > 1)
    throw serveUsageError(
      `there are ${names.length} tapes, and one live server cannot stand behind them all`,
      'serve the tape with a live server behind it in a run of its own',
    )
  if (!isOverHttp && names.length > 1)
    throw serveUsageError(
      `${names.length} tapes cannot be served on one stdin and stdout`,
      'add --http, and each has a port of its own; the command of a live server stands behind --',
    )
}

function serveUsageError(message: string, hint: string): ReelayError {
  return new ReelayError('USAGE', message, { hint })
}
