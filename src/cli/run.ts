import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { Command } from 'commander'
import { warnAboutVault } from './output/vault-warning.ts'
import { exitLike } from './signals.ts'
import { ReelayError } from '../errors.ts'
import { runWithInheritedStdio } from '../link/process/run-inherited.ts'
import { labelsToEnv, parseTag } from '../record/tape-header.ts'
import { lastTapeNumber } from '../store/file/create.ts'
import { resolveTape } from '../store/home.ts'
import { pickLabels, type TapeLabels } from '../tape/header.ts'

export const runCommand: Command = new Command('run')
  .description('run a Node program and record, or replay, the MCP servers that it starts')
  .usage('(--record | --replay) <tape> [--server <filter>] -- <command…>')
  .argument('<command...>', 'the program and its arguments, behind --')
  .option('--record <tape>', 'record to a tape of this name, or at this path')
  .option('--replay <tape>', 'play the servers from this tape: none is started')
  .option('--server <filter>', 'these servers only: names with commas between, * for anything')
  .option(
    '--vault <file>',
    'with --record: add the real values behind the stand-ins to this file, for replay --secrets',
  )
  .option('--session <id>', 'the session that the tape belongs to')
  .option('--endpoint <id>', 'the endpoint that the tape belongs to')
  .option('--agent <id>', 'the agent that the tape belongs to')
  .option('--note <text>', 'a note on the tape')
  .option('--tag <key=value...>', 'a tag for the header; may be given several times')
  .action(async ([file, ...args]: readonly string[], flags: RunFlags) => {
    if (file === undefined) throw new ReelayError('USAGE', 'no command to run')
    checkRunFlags(flags, process.env)
    if (flags.vault !== undefined)
      warnAboutVault({ output: undefined, name: flags.record, redact: { vault: flags.vault } })
    const tapes = (): number => lastTapeNumber(resolveTape(flags.record ?? flags.replay ?? ''))
    const before = tapes()
    const end = await runWithInheritedStdio([file, ...args], runEnvironment(flags, process.env))
    if (flags.record !== undefined && tapes() === before)
      process.stderr.write(`reelay: ${NOTHING_RECORDED}
`)
    exitLike(end)
  })

const NOTHING_RECORDED =
  'nothing was recorded: no Node program with an MCP client of either SDK opened a link that --server means (docs/reference/run.md)'

interface RunFlags {
  readonly record?: string
  readonly replay?: string
  readonly server?: string
  readonly vault?: string
  readonly session?: string
  readonly endpoint?: string
  readonly agent?: string
  readonly note?: string
  readonly tag?: readonly string[]
}

/** Says before the program runs what could not work. */
function checkRunFlags(flags: RunFlags, env: NodeJS.ProcessEnv): void {
  const { record, replay, vault } = flags
  if ((record === undefined) === (replay === undefined)) throw recordOrReplay()
  const labels = Object.keys(labelsToEnv(readRunLabels(flags)))
  if (replay !== undefined && labels.length > 0) throw labelsWithoutRecord()
  if (replay !== undefined && vault !== undefined) throw vaultWithoutRecord()
  const path = resolveTape(record ?? replay ?? '', env)
  if (replay === undefined || existsSync(path)) return
  throw new ReelayError('TAPE_NOT_FOUND', `there is no tape ${replay}: ${path} does not exist`, {
    hint: `record it first: reelay run --record ${replay} -- <command>`,
  })
}

/** The environment in which every Node program records or replays. Switches from outside give way to those of the command line. */
function runEnvironment(flags: RunFlags, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { record, replay, server, vault } = flags
  const mode = record === undefined ? 'REELAY_REPLAY' : 'REELAY_RECORD'
  const cleared = Object.entries(env).filter(
    ([name]) => !/^REELAY_(RECORD|REPLAY)(_SERVER|_VAULT)?$/.test(name),
  )
  return {
    ...Object.fromEntries(cleared),
    // A path, because the program may run in another folder.
    [mode]: resolveTape(record ?? replay ?? '', env),
    ...(server !== undefined && { [`${mode}_SERVER`]: server }),
    ...(vault !== undefined && { REELAY_RECORD_VAULT: resolve(vault) }),
    ...labelsToEnv(readRunLabels(flags)),
    NODE_OPTIONS: [env['NODE_OPTIONS'], `--import=${AUTO_MODULE}`].filter(Boolean).join(' '),
  }
}

/** They travel in one variable, with commas between. */
function readRunLabels({ tag = [], ...flags }: RunFlags): TapeLabels {
  const tags = tag.map((text) => parseTag('--tag', text))
  if (tag.some((text) => text.includes(',')))
    throw new ReelayError('USAGE', 'a tag of a run has no comma in it', { hint: 'give several --tag' })
  return pickLabels({ ...flags, tags: Object.fromEntries(tags) })
}

const AUTO_MODULE = new URL('../auto/index.js', import.meta.url).href

function labelsWithoutRecord(): ReelayError {
  const hint = 'leave out --session, --endpoint, --agent, --note and --tag, or record'
  return new ReelayError('USAGE', 'a replay makes no tape that could be labelled', { hint })
}

function vaultWithoutRecord(): ReelayError {
  const hint = 'leave out --vault, or record'
  return new ReelayError('USAGE', 'a replay writes no vault', { hint })
}

function recordOrReplay(): ReelayError {
  const hint = 'as in: reelay run --record my-tape -- node app.js'
  return new ReelayError('USAGE', 'give either --record <tape> or --replay <tape>', { hint })
}
