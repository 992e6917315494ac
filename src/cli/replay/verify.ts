import { Command } from 'commander'
import { reportError } from '../output/report-error.ts'
import { runReplay, abortReplayOnSignals, type ReplayCall } from './run.ts'
import { isChangedSince, waitForFileChange, watchedFolders } from './watch.ts'
import { declareReplayOptions } from '../options/replay-options.ts'

export const verifyCommand: Command = declareReplayOptions(
  new Command('verify').description(
    'check that a live server still answers as recorded; the exit code says so',
  ),
)
  .option('--repeat <n>', 'play the tape up to so often while something differs, to learn what is noise', '3')
  .option('--record <file>', 'make a tape of the run')
  .option('--update', 'put the answers that are not as recorded on the tape, and show which')
  .option('--watch', 'check again whenever the files of the server change')
  .action(async (tape: string, command: readonly string[], flags: VerifyFlags) => {
    const call = { tape, command, flags, repeat: { text: flags.repeat ?? '3', always: false } }
    await (flags.watch === true ? verifyOnEveryChange(call) : runReplay(call))
  })

type VerifyFlags = ReplayCall['flags'] & { readonly watch?: true }

/** Until the user ends it. */
async function verifyOnEveryChange(call: ReplayCall): Promise<void> {
  const folders = watchedFolders(call.command)
  const stop = abortReplayOnSignals()
  while (!stop.aborted) {
    const began = Date.now()
    await runReplay(call, stop).catch(reportError)
    if (stop.aborted) break
    if (isChangedSince(began, call.command)) continue
    const change = waitForFileChange(folders, stop)
    process.stderr.write(`reelay verify: waiting for a change in ${folders.join(', ')}; Ctrl+C ends it\n`)
    await change
  }
  process.exitCode = 130
}
