import { existsSync, statSync, watch, type FSWatcher } from 'node:fs'
import { dirname, resolve, sep } from 'node:path'

const SETTLE_MS = 200

/** The folders that hold the files which the server command names; without any, the folder we are in. */
export function watchedFolders(command: readonly string[]): readonly string[] {
  const files = command.slice(1).filter((word) => existsSync(word))
  const folders = files.map((file) => (statSync(file).isDirectory() ? resolve(file) : dirname(resolve(file))))
  return folders.length === 0 ? [process.cwd()] : [...new Set(folders)]
}

/** Whether a file that the server command names was changed while nobody watched. */
export function isChangedSince(time: number, command: readonly string[]): boolean {
  const files = command.slice(1).filter((word) => existsSync(word))
  return files.map((file) => statSync(file)).some((found) => found.isFile() && found.mtimeMs > time)
}

/** Resolves when something in the folders has changed and then been quiet for a moment, or when it is told to stop. */
export function waitForFileChange(folders: readonly string[], signal: AbortSignal): Promise<void> {
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
