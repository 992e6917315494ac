import { existsSync, statSync, watch, type FSWatcher } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import { Command } from 'commander'
import { declareReplayOptions } from '../options/replay-options.ts'
import { reportError } from '../output/report-error.ts'
import { runReplay, abortReplayOnSignals, type ReplayCall } from './replay.ts'

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

const SETTLE_MS = 200

/** The folders that hold the files which the server command names; without any, the folder we are in. */
function watchedFolders(command: readonly string[]): readonly string[] {
  const files = command.slice(1).filter((word) => existsSync(word))
  const folders = files.map((file) => (statSync(file).isDirectory() ? resolve(file) : dirname(resolve(file))))
  return folders.length === 0 ? [process.cwd()] : [...new Set(folders)]
}

/** Whether a file that the server command names was changed while nobody watched. */
function isChangedSince(time: number, command: readonly string[]): boolean {
  const files = command.slice(1).filter((word) => existsSync(word))
  return files.map((file) => statSync(file)).some((found) => found.isFile() && found.mtimeMs > time)
}

/** Resolves when something in the folders has changed and then been quiet for a moment, or when it is told to stop. */
function waitForFileChange(folders: readonly string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolved) => {
    let timer: NodeJS.Timeout | undefined
    const watchers: FSWatcher[] = []
    const done = (): void => {
      for (const watcher of watchers) watcher.close()
      signal.removeEventListener('abort', done)
      resolved()
    }
    const changed = (_: string, file: string | null): void => {
      if (file !== null && isIgnoredFile(file)) return
      clearTimeout(timer)
      timer = setTimeout(done, SETTLE_MS)
    }
    for (const folder of folders) watchers.push(watch(folder, { recursive: true }, changed))
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}

/** What changes without the server having changed. */
function isIgnoredFile(file: string): boolean {
  return file.split(sep).some((part) => part === 'node_modules' || part === '.git') || file.includes('.tape.')
}
