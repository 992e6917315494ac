import { existsSync } from 'node:fs'
import { isCi } from '../../serve/upstream/upstream.ts'
import { resolveTape, isTapePath } from '../../store/home.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { usageError, longFlag, type GivenOptions } from '../options/option.ts'
import { SERVE_OPTIONS, repeatedOptions, type ServeFlags } from '../options/serve-options.ts'
import { abortOnSignals } from '../signals.ts'
import { planLiveServer, readLiveTarget } from './live-plan.ts'
import { readServeSecrets, sessionLimits } from './play-options.ts'
import { serveTapes } from './serve-tapes.ts'
import { printServeWarning, requestedTapes, type RequestedTape } from './tapes-to-serve.ts'
import { dirname, resolve } from 'node:path'
import type { Setting } from '../../config/setting.ts'
import type { ListenAddress } from '../../http/server/http-server.ts'
import { announceConfig, readConfig } from '../options/config-options.ts'
import { listenValue, parseListenAddress } from '../options/option-types.ts'

export const serveCommand: CommandDefinition = defineCommand<ServeFlags>({
  name: 'serve',
  usage: '[options] [tape...] [-- <live server command…>]',
  arguments: {
    '[tape...]':
      'Tape name, or path of a tape file; over HTTP you can give several, each on its own port (default: the tapes in the project config)',
  },
  options: SERVE_OPTIONS,
  common: ['http', 'server', 'url', 'header', 'onMiss', 'mode', 'match', 'ignore', 'pace', 'faults'],
  run: async (words, flags, given) => {
    announceConfig(flags, 'ignore')
    const { names, command } = splitServeArguments(words, process.argv)
    const repeated = repeatedOptions(given)
    if (words.length === 0 && flags.url === undefined) {
      return serveTapes(configTapes(flags, given), { flags, words: repeated, plan: { kind: 'replay' } })
    }
    const target = readLiveTarget(command, flags)
    const { mode, onMiss, server } = flags
    checkServeUsage({ ...flags, names, isLive: (target ?? mode ?? onMiss) !== undefined })
    const path = resolveTape(names[0] ?? '')
    const plan = planLiveServer({ mode, onMiss, target, isTapeThere: existsSync(path), isCi: isCi() })
    if (plan.warning !== undefined) printServeWarning(plan.warning)
    const requested = requestedTapes(names, flags)
    if (plan.kind !== 'record') return serveTapes(requested, { flags, words: repeated, plan })
    const { recordLiveServer } = await import('./live-server.ts')
    process.exitCode = await recordLiveServer({
      path,
      target: plan.target,
      server,
      addresses: requested[0] ?? {},
      limits: sessionLimits(flags),
      secrets: await readServeSecrets(flags),
      signal: abortOnSignals(),
    })
  },
})

/** The arguments of a command line: tapes before `--`, the command of a live server after it. */
interface ServeArguments {
  readonly names: readonly string[]
  readonly command: readonly string[]
}

/** Commander drops the `--` and returns the words before and after it as one list. */
function splitServeArguments(words: readonly string[], argv: readonly string[]): ServeArguments {
  const cut = argv.indexOf('--')
  const tapes = cut < 0 ? words.length : words.length - (argv.length - cut - 1)
  return { names: words.slice(0, tapes), command: words.slice(tapes) }
}

interface ServeUsage extends Pick<ServeArguments, 'names'>, Pick<ServeFlags, 'http' | 'sse'> {
  /** True if the command line names a live server, or says how to use one. */
  readonly isLive: boolean
}

/** Rejects tapes that cannot be served together. */
function checkServeUsage({ names, http, sse, isLive }: ServeUsage): void {
  const isOverHttp = http !== undefined || sse !== undefined
  if (names.length === 0) throw usageError('no tape is given', 'name it before the --')
  if (isLive && names.length > 1)
    throw usageError(
      `${names.length} tapes cannot share one live server`,
      'serve the tape that has a live server in a separate run',
    )
  if (!isOverHttp && names.length > 1)
    throw usageError(
      `${names.length} tapes cannot be served on one stdin and stdout`,
      'add --http, which gives each its own port; the command of a live server goes after --',
    )
}

/** The tapes that the project config lists, for a `reelay serve` that names none. */
function configTapes(flags: ServeFlags, given: GivenOptions): readonly RequestedTape[] {
  const config = readConfig(flags, 'ignore')
  const section = config?.section('serve')
  if (config === undefined || section === undefined)
    throw usageError(
      'no tape is given, and the project config lists none',
      'run reelay serve <tape>, or add a section "serve" to reelay.config.yaml: docs/reference/config.md',
    )
  const unusable = NAMED_TAPE_OPTIONS.find((name) => given[name] !== undefined)
  if (unusable !== undefined)
    throw usageError(
      `${longFlag(SERVE_OPTIONS[unusable].flag ?? unusable)} needs a tape on the command line`,
      `the tapes in ${config.file} are served as its section "serve" says`,
    )
  return readServeSection(section, dirname(config.file))
}

const NAMED_TAPE_OPTIONS = ['http', 'sse', 'stdio', 'server', 'mode', 'onMiss', 'header'] as const

/** Reads the section `serve`; paths in it start at the folder of the config. */
export function readServeSection(section: Setting, folder: string): readonly RequestedTape[] {
  const { tapes } = section.members(['tapes'])
  const entries = tapes?.items() ?? []
  if (entries.length === 0) throw section.invalid('lists no "tapes"')
  return entries.map((entry) => readTapeEntry(entry, folder))
}

/** An entry is the name of a tape, which gets a free port, or a map. */
function readTapeEntry(entry: Setting, folder: string): RequestedTape {
  if (typeof entry.value === 'string') return { name: readTapePath(entry, folder), http: {} }
  const { tape, server, http, sse } = entry.members(['tape', 'server', 'http', 'sse'])
  if (tape === undefined) throw entry.invalid('needs "tape"')
  return {
    name: readTapePath(tape, folder),
    ...(server && { server: server.text() }),
    ...((http ?? !sse) && { http: http ? readAddress(http) : {} }),
    ...(sse && { sse: readAddress(sse) }),
  }
}

function readTapePath(setting: Setting, folder: string): string {
  const text = setting.text()
  return isTapePath(text) ? resolve(folder, text) : text
}

function readAddress(setting: Setting): Partial<ListenAddress> {
  if (setting.value === true) return {}
  const address = parseListenAddress(String(setting.value))
  if (address === undefined) throw setting.invalid(`is not an address (expected ${listenValue.expected})`)
  return address
}
