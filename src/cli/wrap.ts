import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { Command } from 'commander'
import { ReelayError } from '../errors.ts'
import { escapeControlCharsInJson } from '../text.ts'
import type { UserEnvironment } from '../wrap/clients/client.ts'
import { WRAPPABLE_CLIENTS } from '../wrap/clients/index.ts'
import { formatWrapResult, wrapExitCode, type WrapResult } from '../wrap/wrap-result.ts'
import type { ServerSelection } from '../wrap/change-configs.ts'
import type { RecorderProgram } from '../wrap/entries/command-entry.ts'
import { print } from './output/print.ts'
import { createOutputRedactor } from './output/redact-output.ts'

interface WrapFlags {
  readonly all?: true
  readonly client?: string
  readonly file?: string
  readonly dryRun?: true
  readonly json?: true
}

export const wrapCommand: Command = declareWrapOptions(
  new Command('wrap').description('put the recorder before servers in the config files of MCP clients'),
).action(async (names: readonly string[], flags: WrapFlags) => {
  const servers = readServers(names, flags)
  const { client, file, dryRun = false } = flags
  const { wrapServers } = await import('../wrap/wrap.ts') // with its parsers, which other commands need not load
  const result = wrapServers({
    servers,
    client,
    file,
    dryRun,
    where: configEnvironment(),
    recorder: thisProgram(),
    now: () => new Date(),
  })
  printResult(result, servers, flags)
  warnAboutNpxCache(thisProgram())
})

export const unwrapCommand: Command = declareWrapOptions(
  new Command('unwrap').description('take the recorder out of the config files again, byte for byte'),
).action(async (names: readonly string[], flags: WrapFlags) => {
  const servers = readServers(names, flags)
  const { client, file, dryRun = false } = flags
  const { unwrapServers } = await import('../wrap/unwrap.ts')
  printResult(unwrapServers({ servers, client, file, dryRun, where: configEnvironment() }), servers, flags)
})

/** Where we look for configs. */
export function configEnvironment(): UserEnvironment {
  return { platform: process.platform, env: process.env, home: homedir(), cwd: process.cwd() }
}

function declareWrapOptions(command: Command): Command {
  return command
    .argument('[server...]', 'the names of the servers in the config')
    .option('--all', 'every server')
    .option('--client <name>', `one client only: ${WRAPPABLE_CLIENTS.map(({ name }) => name).join(', ')}`)
    .option('--file <file>', 'this config file only')
    .option('--dry-run', 'show a diff and write nothing')
    .option('--json', 'print the result as JSON')
}

function readServers(names: readonly string[], { all }: WrapFlags): ServerSelection {
  if (names.length > 0 && all) throw wrapUsageError('both names of servers and --all are given')
  if (names.length === 0 && !all) throw wrapUsageError('no server is named')
  return all ? 'all' : names
}

function wrapUsageError(message: string): ReelayError {
  return new ReelayError('USAGE', message, {
    hint: 'name servers as they are called in the config, or use --all; reelay doctor lists them',
  })
}

/** By their own paths: a client started from a desktop has another PATH than a shell. */
function thisProgram(): RecorderProgram {
  return { node: process.execPath, program: realpathSync(process.argv[1] ?? '') }
}

function printResult(result: WrapResult, servers: ServerSelection, { json }: WrapFlags): void {
  const shown = createOutputRedactor(NOT_SECRET) // a diff shows what stands around a change, such as a token in `env`
  print(shown(json ? `${escapeControlCharsInJson(JSON.stringify(result))}\n` : formatWrapResult(result)))
  process.exitCode = wrapExitCode(result, servers)
  if (!result.dryRun) printRestartNotice(result)
}

/** Variables that wrapping makes, and what a client puts a value into only when it starts, with the word before it. */
const NOT_SECRET = [/^REELAY_(HEADER_\d+|URL)_*$/, /^([A-Za-z]+ )?\$(\{[^{}]*\}|[A-Za-z_]\w*)$/]

/** Clients read their config when they start; some go on with the old one until they are quit. */
function printRestartNotice({ outcomes }: WrapResult): void {
  const changed = outcomes.filter(({ kind }) => kind === 'wrapped' || kind === 'unwrapped')
  const clients = [...new Set(changed.map(({ client }) => client))]
  if (clients.length > 0) process.stderr.write(`restart ${clients.join(', ')} to make it so\n`)
}

function warnAboutNpxCache({ program }: RecorderProgram): void {
  if (!/[\\/]_npx[\\/]/.test(program)) return
  process.stderr.write(
    `reelay: this copy lives in the cache of npx, which may be emptied: install reelay first\n`,
  )
}
