import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder that holds this one file, and is gone when the test is over. */
export function folderWith(name: string, text: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'reelay-config-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, name), text)
  return folder
}
