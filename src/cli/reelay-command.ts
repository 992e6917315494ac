import { realpathSync } from 'node:fs'

/** The command that starts this program again, with absolute paths: Node and its script, or the single-file binary alone. */
export function reelayCommand(): readonly [string, ...string[]] {
  const script = realpathSync(process.argv[1] ?? '')
  return script === realpathSync(process.execPath) ? [process.execPath] : [process.execPath, script]
}
