import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The texts of all files in some folders, but for the key: for tests that look for what must be in none of them. */
export function everythingIn(...folders: readonly string[]): string {
  return folders
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))))
    .filter((file) => statSync(file).isFile() && !file.endsWith('redaction.key'))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
}
