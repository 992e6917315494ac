import { Command } from 'commander'
import { ReelayError } from '../errors.ts'
import { lastTapeNumber } from '../store/file/create.ts'
import { resolveTape } from '../store/home.ts'
import { runWithInheritedStdio } from '../link/process/run-inherited.ts'
import { exitLike } from './end-as.ts'
import { warnAboutVault } from './output/vault-warning.ts'
import { checkRunFlags, runEnvironment, type RunFlags } from './run-env.ts'

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
  'nothing was recorded: no Node program with an MCP client of either SDK opened a link that --server means (docs/run.md)'
