import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** A folder for all tests of a file or a `describe`, gone when the last of them is over. */
export function sharedFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'reelay-shared-')))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
