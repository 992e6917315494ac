import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

test('the option tables, the errors page and the config schema are up to date; npm run docs renews them', () => {
  const stale = execFileSync(process.execPath, ['scripts/docs.mjs', '--check'], { encoding: 'utf8' })
  expect(stale).toBe('')
})
