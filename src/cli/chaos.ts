import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineCommand, type CommandDefinition } from './command.ts'
import { LIVE_SERVER_OPTIONS, seedOption, type LiveServerFlags } from './options/live-options.ts'
import { inGroup, option, usageError } from './options/option.ts'
import {
  countValue,
  durationValue,
  fileValue,
  listenValue,
  nameList,
  switchOff,
  switchOn,
  textValue,
} from './options/option-types.ts'
import type { RecordTapeArgs } from './options/record-options.ts'
import { jsonOption, overwriteOption, readLabels } from './options/shared-options.ts'
import { print } from './output/print.ts'
import { clearProgress, showProgress } from './output/progress.ts'
import { printNotice } from './record/record-output.ts'
import { reelayCommand } from './reelay-command.ts'
import { readFaultsFile } from './serve/play-options.ts'
import { abortOnSignals } from './signals.ts'
import type { FaultRule } from '../faults/fault-rules.ts'
import type { ListenAddress } from '../http/server/http-server.ts'
import { DEFAULT_MAX_LINE_BYTES } from '../protocol/lines.ts'
import { FaultInjector } from '../record/intercept/fault-injector.ts'
import { DEFAULT_SEED } from '../seeded-random.ts'
import { resolveTape } from '../store/home.ts'
import { requireNewTape } from '../store/file/write.ts'

interface ChaosFlags extends LiveServerFlags {
  readonly faults?: string
  readonly seed?: number
  readonly listen?: ListenAddress
  readonly output?: string
  readonly overwrite?: true
  readonly server?: string
  readonly redact?: boolean
  readonly every?: true
  readonly kinds?: readonly string[]
  readonly handshake?: true
  readonly timeout?: number
  readonly jobs?: number
  readonly keep?: string
  readonly json?: true
  readonly quiet?: true
}

const DEFAULT_TIMEOUT_MS = 10_000
const DEFAULT_KEEP = 'chaos-tapes'

export const chaosCommand: CommandDefinition = defineCommand<ChaosFlags>({
  name: 'chaos',
  usage:
    '[options] --faults <preset or file> -- <server command…>\n' +
    '       reelay chaos [options] --faults <preset or file> --url <url>\n' +
    '       reelay chaos [options] <tape> --every -- <client command…>',
  arguments: { '[words...]': 'With --every, the tape that plays the server; then -- and the command' },
  options: {
    ...inGroup('Faults', {
      faults: option(
        '--faults',
        fileValue,
        'Inject the faults in this YAML or JSON file, or those of a preset such as flaky (see reelay faults)',
        { conflicts: ['every'] },
      ),
      seed: seedOption,
    }),
    ...LIVE_SERVER_OPTIONS,
    ...inGroup('Live server', {
      listen: option('--listen', listenValue, 'Listen for clients on this address', {
        default: 'a free port on 127.0.0.1',
        needs: { url: true },
      }),
    }),
    ...inGroup('Tape', {
      output: option(
        '-o, --output',
        fileValue,
        'Write the tape to this file; if it exists, a number is added',
        {
          conflicts: ['every'],
        },
      ),
      overwrite: { ...overwriteOption, conflicts: ['every'] },
      server: option('--server <name>', textValue, 'Name the server on the tape', {
        default: 'from the command or the URL',
        conflicts: ['every'],
      }),
      redact: option('--no-redact', switchOff, 'Write secrets to the tape unchanged', {
        conflicts: ['every'],
      }),
    }),
    ...inGroup('Every fault at every call', {
      every: option(
        '--every',
        switchOn,
        'Run the client command once for each fault at each call, against the served tape, and judge how it ends',
        { conflicts: ['url'] },
      ),
      kinds: option('--kinds <names>', nameList, 'Use only these kinds of faults, e.g. wire,http', {
        needs: { every: true },
      }),
      handshake: option('--handshake', switchOn, 'Also damage the handshake', { needs: { every: true } }),
      timeout: option('--timeout', durationValue('s', 100), 'A client that runs longer than this hangs', {
        default: '10s',
        needs: { every: true },
      }),
      jobs: option('--jobs', countValue(64), 'Run this many clients at the same time', {
        default: 'the number of cores',
        needs: { every: true },
      }),
      keep: option('--keep <folder>', fileValue, 'Keep the tapes of failures in this folder', {
        default: DEFAULT_KEEP,
        needs: { every: true },
      }),
      json: { ...jsonOption, needs: { every: true } },
    }),
    ...inGroup('Output', {
      quiet: option('-q, --quiet', switchOn, 'Print nothing unless the recording fails'),
    }),
  },
  common: ['faults', 'seed', 'url', 'output', 'every', 'kinds', 'timeout', 'json'],
  run: async (words, flags) => {
    const at = process.argv.indexOf('--')
    const command = at < 0 ? [] : process.argv.slice(at + 1)
    const names = words.slice(0, words.length - command.length)
    return flags.every ? runEvery(names, command, flags) : runProxy(names, command, flags)
  },
})

/** Records a live server, and injects faults on the way. */
async function runProxy(
  names: readonly string[],
  command: readonly string[],
  flags: ChaosFlags,
): Promise<void> {
  const { url, faults, seed = DEFAULT_SEED, quiet = false } = flags
  if (names.length > 0)
    throw usageError(
      `${JSON.stringify(names[0])} is neither an option nor after --`,
      'put the server command after --; a tape is named only with --every',
    )
  const [program, ...args] = command
  if ((program === undefined) === (url === undefined))
    throw usageError(
      program === undefined ? 'there is no server' : 'a URL and a server command are both given',
      'put the server command after --, or use --url',
    )
  const rules: readonly FaultRule[] = faults === undefined ? [] : await readFaultsFile(faults)
  const injector = new FaultInjector({
    rules,
    seed,
    transport: url === undefined ? 'stdio' : 'http',
    onFault: quiet ? undefined : (text) => printNotice(`fault: ${text}`),
  })
  const tape = tapeArgs(flags, injector)
  if (program !== undefined) {
    const { startServerAndRecord } = await import('./record/record-stdio.ts')
    return startServerAndRecord({ ...tape, kind: 'command', command: [program, ...args], learn: undefined })
  }
  const { runUrlRecording } = await import('./record/record-proxy.ts')
  return runUrlRecording({
    ...tape,
    kind: 'url',
    url: url?.href ?? '',
    headers: flags.header ?? [],
    listen: flags.listen,
  })
}

function tapeArgs(flags: ChaosFlags, interceptor: FaultInjector): RecordTapeArgs {
  const { output, overwrite, server, redact, quiet = false } = flags
  if (output !== undefined && overwrite) requireNewTape(output, true)
  return {
    name: undefined,
    output,
    ifExists: overwrite ? 'overwrite' : 'number',
    server,
    labels: readLabels({}, process.env),
    rules: {},
    maxLineBytes: DEFAULT_MAX_LINE_BYTES,
    tail: false,
    quiet,
    redact: redact === false ? false : {},
    intercept: undefined,
    interceptor,
  }
}

/** Judges a client by every fault at every call of its session. */
async function runEvery(
  names: readonly string[],
  command: readonly string[],
  flags: ChaosFlags,
): Promise<void> {
  const [name, extra] = names
  const [program, ...args] = command
  if (name === undefined || extra !== undefined)
    throw usageError('--every needs one tape', 'reelay chaos <tape> --every -- <client command>')
  if (program === undefined)
    throw usageError('there is no client command', 'put it after --, with {server} or {url} in it')
  const { didNotSurvive, surviveEveryFault } = await import('../chaos/survival.ts')
  const signal = abortOnSignals()
  const matrix = await surviveEveryFault({
    tape: resolveTape(name),
    client: [program, ...args],
    program: reelayCommand(),
    kinds: flags.kinds,
    handshake: flags.handshake ?? false,
    seed: flags.seed ?? DEFAULT_SEED,
    timeoutMs: flags.timeout ?? DEFAULT_TIMEOUT_MS,
    jobs: flags.jobs ?? availableParallelism(),
    keep: resolve(flags.keep ?? DEFAULT_KEEP),
    signal,
    onProgress: (done, all) => flags.quiet || showProgress(`${done} of ${all} runs`),
  })
  clearProgress()
  const { survivalAsJson, survivalAsText } = await import('../report/chaos.ts')
  print(flags.json ? survivalAsJson(matrix) : survivalAsText(matrix))
  if (signal.aborted) process.exitCode = 130
  else process.exitCode = matrix.cells.some(({ survival }) => didNotSurvive(survival)) ? 1 : 0
}
