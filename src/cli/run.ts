import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineCommand, type CommandDefinition } from './command.ts'
import { announceConfig } from './options/config-options.ts'
import { option, usageError } from './options/option.ts'
import { textValue } from './options/option-types.ts'
import { LABEL_OPTIONS, serverFilter, vaultOption, type LabelFlags } from './options/shared-options.ts'
import { warnAboutVault } from './record/record-output.ts'
import { exitLike } from './signals.ts'
import { ReelayError } from '../errors.ts'
import { runWithInheritedStdio } from '../link/process/run-inherited.ts'
import { labelsToEnv } from '../record/tape-header.ts'
import { lastTapeNumber } from '../store/file/write.ts'
import { resolveTape } from '../store/home.ts'
import { pickLabels, type TapeLabels } from '../tape/header.ts'

interface RunFlags extends LabelFlags {
  readonly record?: string
  readonly replay?: string
  readonly server?: string
  readonly vault?: string
}

export const runCommand: CommandDefinition = defineCommand<RunFlags>({
  name: 'run',
  usage: '(--record | --replay) <tape> [options] -- <command…>',
  arguments: { '<command...>': 'The program and its arguments, after --' },
  options: {
    record: option('--record <tape>', textValue, 'Record to a tape with this name or path', {
      conflicts: ['replay'],
    }),
    replay: option('--replay <tape>', textValue, 'Replay the servers from this tape, without starting them'),
    server: serverFilter('Record or replay only these servers'),
    vault: { ...vaultOption, needs: { record: true } },
    ...LABEL_OPTIONS,
  },
  run: async ([program, ...args], flags) => {
    if (program === undefined) throw usageError('no command to run', EXAMPLE)
    checkRunFlags(flags, process.env)
    announceConfig({}, flags.record === undefined ? 'ignore' : 'run')
    if (flags.vault !== undefined)
      warnAboutVault({ output: undefined, name: flags.record, redact: { vault: flags.vault } })
    const tapes = (): number => lastTapeNumber(resolveTape(flags.record ?? flags.replay ?? ''))
    const before = tapes()
    const end = await runWithInheritedStdio([program, ...args], runEnvironment(flags, process.env))
    if (flags.record !== undefined && tapes() === before)
      process.stderr.write(`reelay: ${NOTHING_RECORDED}\n`)
    exitLike(end)
  },
})

const EXAMPLE = 'for example: reelay run --record my-tape -- node app.js'
const NOTHING_RECORDED =
  'nothing was recorded: no Node program with an MCP client of either SDK connected to a server that --server selects (docs/reference/run.md)'

/** Rejects options that cannot work, before the program runs. */
function checkRunFlags(flags: RunFlags, env: NodeJS.ProcessEnv): void {
  const { record, replay } = flags
  if (record === undefined && replay === undefined)
    throw usageError('neither --record <tape> nor --replay <tape> is given', EXAMPLE)
  if (replay !== undefined && Object.keys(labelsToEnv(readRunLabels(flags))).length > 0)
    throw usageError(
      'a replay writes no tape that could be labelled',
      'leave out --session, --endpoint, --agent, --note and --tag, or use --record',
    )
  const path = resolveTape(record ?? replay ?? '', env)
  if (replay === undefined || existsSync(path)) return
  throw new ReelayError('TAPE_NOT_FOUND', `there is no tape ${replay}: ${path} does not exist`, {
    hint: `record it first: reelay run --record ${replay} -- <command>`,
  })
}

/** The environment in which every Node program records or replays. The command line overrides the variables of the caller. */
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

/** Tags are passed on in one variable, separated by commas. */
function readRunLabels({ tag = [], ...flags }: RunFlags): TapeLabels {
  if (tag.some((each) => each.join('').includes(',')))
    throw usageError('a --tag of a run cannot contain a comma', 'use --tag several times')
  return pickLabels({ ...flags, tags: Object.fromEntries(tag) })
}

const AUTO_MODULE = new URL('../lib/auto.js', import.meta.url).href
