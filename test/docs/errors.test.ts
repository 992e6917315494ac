import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('docs/reference/errors.md lists the error codes as they are now; npm run docs brings it up to date', () => {
  const page = execFileSync(process.execPath, ['scripts/docs.mjs', '--print'], { encoding: 'utf8' })
  expect(readFileSync('docs/reference/errors.md', 'utf8')).toBe(page)
})
