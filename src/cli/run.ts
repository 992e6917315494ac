import { Command } from 'commander'
import { ReelayError } from '../errors.ts'
import { runInherited } from '../transport/inherited-process.ts'
import { endAs } from './end-as.ts'
import { checkSwitches, switchedEnv, type RunFlags } from './run-env.ts'

export const runCommand: Command = new Command('run')
  .description('run a Node program and record, or replay, the MCP servers that it starts')
  .usage('(--record | --replay) <tape> [--server <filter>] -- <command…>')
  .argument('<command...>', 'the program and its arguments, behind --')
  .option('--record <tape>', 'record to a tape of this name, or at this path')
  .option('--replay <tape>', 'play the servers from this tape: none is started')
  .option('--server <filter>', 'these servers only: names with commas between, * for anything')
  .action(async ([file, ...args]: readonly string[], flags: RunFlags) => {
    if (file === undefined) throw new ReelayError('USAGE', 'no command to run')
    checkSwitches(flags, process.env)
    endAs(await runInherited([file, ...args], switchedEnv(flags, process.env)))
  })
