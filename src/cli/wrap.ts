import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { Command } from 'commander'
import { ReelayError } from '../errors.ts'
import { visibleJson } from '../wire/visible.ts'
import type { Where } from '../wrap/client.ts'
import { CLIENTS } from '../wrap/clients/index.ts'
import { outcomesAsText } from '../wrap/outcome-text.ts'
import { exitCodeOf, type WrapResult } from '../wrap/outcome.ts'
import type { Servers } from '../wrap/selection.ts'
import type { Recorder } from '../wrap/wrapped-command.ts'
import { print } from './print.ts'
import { withoutSecrets } from './without-secrets.ts'

interface WrapFlags {
  readonly all?: true
  readonly client?: string
  readonly file?: string
  readonly dryRun?: true
  readonly json?: true
}

export const wrapCommand: Command = withFlags(
  new Command('wrap').description('put the recorder before servers in the config files of MCP clients'),
).action(async (names: readonly string[], flags: WrapFlags) => {
  const servers = serversOf(names, flags)
  const { client, file, dryRun = false } = flags
  const { wrap } = await import('../wrap/wrap.ts') // with its parsers, which other commands need not load
  const result = wrap({
    servers,
    client,
    file,
    dryRun,
    where: here(),
    recorder: ourselves(),
    now: () => new Date(),
  })
  show(result, servers, flags)
  warnOfCache(ourselves())
})

export const unwrapCommand: Command = withFlags(
  new Command('unwrap').description('take the recorder out of the config files again, byte for byte'),
).action(async (names: readonly string[], flags: WrapFlags) => {
  const servers = serversOf(names, flags)
  const { client, file, dryRun = false } = flags
  const { unwrap } = await import('../wrap/unwrap.ts')
  show(unwrap({ servers, client, file, dryRun, where: here() }), servers, flags)
})

/** Where we look for configs. */
export function here(): Where {
  return { platform: process.platform, env: process.env, home: homedir(), cwd: process.cwd() }
}

function withFlags(command: Command): Command {
  return command
    .argument('[server...]', 'the names of the servers in the config')
    .option('--all', 'every server')
    .option('--client <name>', `one client only: ${CLIENTS.map(({ name }) => name).join(', ')}`)
    .option('--file <file>', 'this config file only')
    .option('--dry-run', 'show a diff and write nothing')
    .option('--json', 'print the result as JSON')
}

function serversOf(names: readonly string[], { all }: WrapFlags): Servers {
  if (names.length > 0 && all) throw misuse('both names of servers and --all are given')
  if (names.length === 0 && !all) throw misuse('no server is named')
  return all ? 'all' : names
}

function misuse(message: string): ReelayError {
  return new ReelayError('USAGE', message, {
    hint: 'name servers as they are called in the config, or use --all; reelay doctor lists them',
  })
}

/** By their own paths: a client started from a desktop has another PATH than a shell. */
function ourselves(): Recorder {
  return { node: process.execPath, program: realpathSync(process.argv[1] ?? '') }
}

function show(result: WrapResult, servers: Servers, { json }: WrapFlags): void {
  const shown = withoutSecrets(NO_SECRETS) // a diff shows what stands around a change, such as a token in `env`
  print(shown(json ? `${visibleJson(JSON.stringify(result))}\n` : outcomesAsText(result)))
  process.exitCode = exitCodeOf(result, servers)
  if (!result.dryRun) askForRestart(result)
}

/** Variables that wrapping makes, and what a client puts a value into only when it starts, with the word before it. */
const NO_SECRETS = [/^REELAY_(HEADER_\d+|URL)_*$/, /^([A-Za-z]+ )?\$(\{[^{}]*\}|[A-Za-z_]\w*)$/]

/** Clients read their config when they start; some go on with the old one until they are quit. */
function askForRestart({ outcomes }: WrapResult): void {
  const changed = outcomes.filter(({ kind }) => kind === 'wrapped' || kind === 'unwrapped')
  const clients = [...new Set(changed.map(({ client }) => client))]
  if (clients.length > 0) process.stderr.write(`restart ${clients.join(', ')} to make it so\n`)
}

function warnOfCache({ program }: Recorder): void {
  if (!/[\\/]_npx[\\/]/.test(program)) return
  process.stderr.write(
    `reelay: this copy lives in the cache of npx, which may be emptied: install reelay first\n`,
  )
}
