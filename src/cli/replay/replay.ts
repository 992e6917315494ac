import { Command } from 'commander'
import { runReplay } from './run.ts'
import { declareReplayOptions, type ReplayFlags } from '../options/replay-options.ts'

export const replayCommand: Command = declareReplayOptions(
  new Command('replay').description(
    'be the recorded client: send a tape to a live server and compare its answers',
  ),
)
  .option('--repeat <n>', 'play the tape so often, and compare the runs with each other', '1')
  .option('--record <file>', 'make a tape of the run')
  .action(async (tape: string, command: readonly string[], flags: ReplayFlags & { record?: string }) => {
    await runReplay({ tape, command, flags, repeat: { text: flags.repeat ?? '1', always: true } })
  })
