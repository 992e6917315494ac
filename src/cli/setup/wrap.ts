import { homedir } from 'node:os'
import type { ReelayError } from '../../errors.ts'
import { escapeControlCharsInJson } from '../../text.ts'
import type { UserEnvironment } from '../../wrap/clients/client.ts'
import { WRAPPABLE_CLIENTS } from '../../wrap/clients/index.ts'
import { formatWrapResult, wrapExitCode, type WrapResult } from '../../wrap/wrap-result.ts'
import type { ServerSelection } from '../../wrap/change-configs.ts'
import type { RecorderProgram } from '../../wrap/entries/command-entry.ts'
import { reelayCommand } from '../reelay-command.ts'
import { defineCommand, type CommandDefinition } from '../command.ts'
import { option, usageError, type OptionTable } from '../options/option.ts'
import { fileValue, switchOn, textValue } from '../options/option-types.ts'
import { jsonOption } from '../options/shared-options.ts'
import { print } from '../output/print.ts'
import { createOutputRedactor } from '../output/redact-output.ts'

interface WrapFlags {
  readonly all?: true
  readonly client?: string
  readonly file?: string
  readonly dryRun?: true
  readonly json?: true
}

const SERVER_ARGUMENT = { '[server...]': 'Names of the servers in the config' } as const

const WRAP_OPTIONS: OptionTable<WrapFlags> = {
  all: option('--all', switchOn, 'Change every server in the config'),
  client: option(
    '--client <name>',
    textValue,
    `Change only the config of this client: ${WRAPPABLE_CLIENTS.map(({ name }) => name).join(', ')}`,
  ),
  file: option('--file', fileValue, 'Change only this config file'),
  dryRun: option('--dry-run', switchOn, 'Show a diff and write nothing'),
  json: jsonOption,
}

export const wrapCommand: CommandDefinition = defineCommand<WrapFlags>({
  name: 'wrap',
  arguments: SERVER_ARGUMENT,
  options: WRAP_OPTIONS,
  run: async (names, flags) => {
    const servers = readServers(names, flags)
    const { client, file, dryRun = false } = flags
    const { wrapServers } = await import('../../wrap/wrap.ts') // its parsers are large, and other commands do not need them
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
  },
})

export const unwrapCommand: CommandDefinition = defineCommand<WrapFlags>({
  name: 'unwrap',
  arguments: SERVER_ARGUMENT,
  options: WRAP_OPTIONS,
  run: async (names, flags) => {
    const servers = readServers(names, flags)
    const { client, file, dryRun = false } = flags
    const { unwrapServers } = await import('../../wrap/wrap.ts')
    const result = unwrapServers({ servers, client, file, dryRun, where: configEnvironment() })
    printResult(result, servers, flags)
  },
})

/** The environment in which the config files of clients are searched. */
export function configEnvironment(): UserEnvironment {
  return { platform: process.platform, env: process.env, home: homedir(), cwd: process.cwd() }
}

function readServers(names: readonly string[], { all }: WrapFlags): ServerSelection {
  if (names.length > 0 && all) throw wrapUsageError('both server names and --all are given')
  if (names.length === 0 && !all) throw wrapUsageError('no server is given')
  return all ? 'all' : names
}

function wrapUsageError(message: string): ReelayError {
  return usageError(message, 'use the names of the servers in the config, or --all; reelay doctor lists them')
}

/** Absolute paths, because a client that is started from a desktop has another PATH than a shell. */
function thisProgram(): RecorderProgram {
  const [node, program] = reelayCommand()
  return { node, program }
}

function printResult(result: WrapResult, servers: ServerSelection, { json }: WrapFlags): void {
  const shown = createOutputRedactor(NOT_SECRET) // a diff also shows the lines around a change, which may contain a token
  print(shown(json ? `${escapeControlCharsInJson(JSON.stringify(result))}\n` : formatWrapResult(result)))
  process.exitCode = wrapExitCode(result, servers)
  if (!result.dryRun) printRestartNotice(result)
}

/** Not secret: variables that `wrap` creates, and references that the client replaces when it starts. */
const NOT_SECRET = [/^REELAY_(HEADER_\d+|URL)_*$/, /^([A-Za-z]+ )?\$(\{[^{}]*\}|[A-Za-z_]\w*)$/]

/** Clients read their config when they start, and some keep the old one until they are quit. */
function printRestartNotice({ outcomes }: WrapResult): void {
  const changed = outcomes.filter(({ kind }) => kind === 'wrapped' || kind === 'unwrapped')
  const clients = [...new Set(changed.map(({ client }) => client))]
  if (clients.length > 0) process.stderr.write(`restart ${clients.join(', ')} to apply the change\n`)
}

function warnAboutNpxCache({ program = '' }: RecorderProgram): void {
  if (!/[\\/]_npx[\\/]/.test(program)) return
  process.stderr.write(
    `reelay: this copy of Reelay is in the cache of npx, which may be emptied: install reelay first\n`,
  )
}
