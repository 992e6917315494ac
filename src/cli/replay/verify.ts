import { Command } from 'commander'
import { runReplay } from './run.ts'
import { withReplayOptions, type ReplayFlags } from './flags.ts'

export const verifyCommand: Command = withReplayOptions(
  new Command('verify').description(
    'check that a live server still answers as recorded; the exit code says so',
  ),
)
  .option('--repeat <n>', 'play the tape up to so often while something differs, to learn what is noise', '3')
  .option('--record <file>', 'make a tape of the run')
  .action(async (tape: string, command: readonly string[], flags: ReplayFlags & { record?: string }) => {
    await runReplay({ tape, command, flags, repeat: { text: flags.repeat ?? '3', always: false } })
  })
