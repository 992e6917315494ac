import { existsSync } from 'node:fs'
import { Command, Option } from 'commander'
import { declareMatchOptions, declarePlayOptions } from '../options/serve-options.ts'
import { listenOptionReader } from '../options/value-readers.ts'
import { LIVE_MODES, planLiveServer, readLiveTarget } from './live-plan.ts'
import { readServeSecrets, serveTapes, abortServeOnSignals, type ServeFlags } from './serve-tapes.ts'
import { printServeWarning, requestedTapes, type ServeHttpFlags } from './tapes-to-serve.ts'
import { ReelayError } from '../../errors.ts'
import { isCi } from '../../serve/upstream/upstream.ts'
import { resolveTape } from '../../store/home.ts'

export const serveCommand: Command = declarePlayOptions(declareMatchOptions(new Command('serve')))
  .description('be the recorded server, on stdin and stdout or over HTTP')
  .argument(
    '[tape...]',
    'a tape name, or a path to a tape file; over HTTP several, one port each; without one, the tapes of the project',
  )
  .option('--stdio', 'on stdin and stdout, which is the default')
  .option(
    '--http [host:port]',
    'over Streamable HTTP (a free port of 127.0.0.1)',
    listenOptionReader('--http'),
  )
  .option(
    '--sse [host:port]',
    'over HTTP+SSE, the transport of 2024-11-05; may be given with --http',
    listenOptionReader('--sse'),
  )
  .option(
    '--server <filter>',
    'which server to be, when the tape holds several: its name, * for anything; over HTTP several, each has its path',
  )
  .option(
    '--secrets <file>',
    'a vault, or lines NAME=value that only you can read: secrets of the client that no rule can tell',
  )
  .addOption(
    new Option(
      '--on-miss <what>',
      'what is not on the tape is an error, or goes to the live server: a command behind --, or --url',
    ).choices(['error', 'passthrough']),
  )
  .addOption(
    new Option(
      '--leftovers <policy>',
      'what it means when something recorded is not asked for: exit code 1, or a note',
    ).choices(['fail', 'note']),
  )
  .addOption(
    new Option('--mode <mode>', 'when the live server is recorded; in CI, none by default').choices(
      LIVE_MODES,
    ),
  )
  .option('--url <url>', 'the live server, where it is not a command behind --')
  .option(
    '--header <header>',
    'a header for every request to --url, as Name: value; ${env.NAME} is read from the environment',
    collectHeader,
  )
  .action(async (words: readonly string[], flags: ServeFlags) => {
    const { names, command } = splitServeArguments(words, process.argv)
    if (words.length === 0 && flags.url === undefined) {
      const { configTapes } = await import('./config-tapes.ts')
      return serveTapes(configTapes(flags, process.cwd()), flags, { kind: 'replay' })
    }
    const target = readLiveTarget(command, flags)
    const { mode, onMiss } = flags
    checkServeUsage({ ...flags, names, isLive: (target ?? mode ?? onMiss) !== undefined })
    const path = resolveTape(names[0] ?? '')
    const wishes = { target, ...(mode && { mode }), ...(onMiss && { onMiss }) }
    const plan = planLiveServer({ ...wishes, isTapeThere: existsSync(path), isCi: isCi() })
    if (plan.warning !== undefined) printServeWarning(plan.warning)
    const wanted = requestedTapes(names, flags)
    if (plan.kind !== 'record') return serveTapes(wanted, flags, plan)
    const { recordLiveServer } = await import('./record-live.ts')
    const { server } = flags
    const signal = abortServeOnSignals()
    process.exitCode = await recordLiveServer({
      path,
      target: plan.target,
      server,
      addresses: wanted[0] ?? {},
      secrets: await readServeSecrets(flags),
      signal,
    })
  })

function collectHeader(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text]
}

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
