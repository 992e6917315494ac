import { existsSync, statSync, watch, type FSWatcher } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'
import type { CommandDefinition } from '../command.ts'
import { formatOptions, type GivenOptions } from '../options/option.ts'
import { SHARED_WITH_LEARN, VERIFY_OPTIONS, readReplayFlags } from '../options/replay-options.ts'
import { reportError } from '../output/print.ts'
import { abortOnSignals } from '../signals.ts'
import { ReelayError } from '../../errors.ts'
import { quoteShellWord } from '../../text.ts'
import { COMMON_OPTIONS, REPLAY_ARGUMENTS, runReplay, type ReplayRun } from './replay.ts'

export const verifyCommand: CommandDefinition = {
  name: 'verify',
  usage: '[options] <tape> -- <server command…>\n       reelay verify [options] <tape> --url <url>',
  arguments: REPLAY_ARGUMENTS,
  options: VERIFY_OPTIONS,
  common: [...COMMON_OPTIONS, 'update', 'watch'],
  run: ([tape = '', ...command], given) => {
    const read = (): ReplayRun => {
      const flags = readReplayFlags('verify', given)
      const learnCommand = learnCommandFor(tape, command, given)
      return { tape, command, flags, repeat: flags.repeat ?? 3, always: false, learnCommand, given }
    }
    return given['watch'] === undefined ? runReplay(read()) : verifyOnEveryChange(command, read)
  },
}

/** The command that learns the noise of the known-good server, with the options of this command that it needs. */
function learnCommandFor(tape: string, command: readonly string[], given: GivenOptions): string {
  const options = formatOptions(VERIFY_OPTIONS, given, SHARED_WITH_LEARN)
  const server = command.length === 0 ? [] : ['--', ...command]
  return ['reelay', 'learn', tape, ...options, ...server].map(quoteShellWord).join(' ')
}

/** Runs until it is interrupted. The options are read again for each run, because the config may have changed. */
async function verifyOnEveryChange(command: readonly string[], read: () => ReplayRun): Promise<void> {
  rejectWrongOptions(read)
  const folders = watchedFolders(command)
  const stop = abortOnSignals()
  while (!stop.aborted) {
    const began = Date.now()
    try {
      await runReplay(read(), stop)
    } catch (error) {
      reportError(error)
    }
    if (stop.aborted) break
    if (isChangedSince(began, command)) continue
    const change = waitForFileChange(folders, stop)
    process.stderr.write(`reelay verify: waiting for a change in ${folders.join(', ')}; Ctrl+C ends it\n`)
    await change
  }
  process.exitCode = 130
}

/** Wrong options cannot be mended by a change of a file. A wrong config can. */
function rejectWrongOptions(read: () => ReplayRun): void {
  try {
    read()
  } catch (error) {
    if (error instanceof ReelayError && error.code === 'USAGE') throw error
  }
}

const SETTLE_MS = 200

/** The folders of the files in the server command, or the working directory. */
function watchedFolders(command: readonly string[]): readonly string[] {
  const files = command.slice(1).filter((word) => existsSync(word))
  const folders = files.map((file) => (statSync(file).isDirectory() ? resolve(file) : dirname(resolve(file))))
  return folders.length === 0 ? [process.cwd()] : [...new Set(folders)]
}

/** Returns true if a file in the server command changed since `time`. */
function isChangedSince(time: number, command: readonly string[]): boolean {
  const files = command.slice(1).filter((word) => existsSync(word))
  return files.map((file) => statSync(file)).some((found) => found.isFile() && found.mtimeMs > time)
}

/** Resolves shortly after a change in the folders, or when `signal` aborts. */
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

/** Ignores files that change without a change of the server. */
function isIgnoredFile(file: string): boolean {
  return file.split(sep).some((part) => part === 'node_modules' || part === '.git') || file.includes('.tape.')
}
