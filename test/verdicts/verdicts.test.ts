import { expect, test } from 'vitest'
import { start } from '../support/recorder.ts'

async function verdicts(...options: readonly string[]): Promise<{ code: number | null; out: string }> {
  const run = start([process.execPath, 'scripts/verdicts.mjs', ...options])
  run.child.stdin.end()
  const { code } = await run.exited
  return { code, out: run.stdout().toString() + run.stderr() }
}

test('the catalogue has at least 200 changes for each era, and each of them changes something', async () => {
  const run = await verdicts('--list')
  expect(run).toMatchObject({ code: 0 })
  const [, legacy, modern, kinds] = /(\d+) legacy, (\d+) modern, (\d+) volatile kinds/.exec(run.out) ?? []
  expect(Number(legacy)).toBeGreaterThanOrEqual(200)
  expect(Number(modern)).toBeGreaterThanOrEqual(200)
  expect(Number(kinds)).toBeGreaterThanOrEqual(40)
})

test('a changed server is found and named over stdio and HTTP, and an old tape of an unchanged one passes', async () => {
  const { code, out } = await verdicts('--smoke', '--verbose')
  expect(out).toMatch(/^all +2 +2 +2 +0$/m)
  expect(out).toContain('3 kinds, 3 runs, 0 false alarms of 0 kinds')
  expect(code).toBe(0)
})
