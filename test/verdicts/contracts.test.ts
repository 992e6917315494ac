import { expect, test } from 'vitest'
import { start } from '../support/recorder.ts'

test('labelled pairs of schemas, sessions and descriptions get the right verdict', async () => {
  const run = start([process.execPath, 'scripts/contracts.mjs'], {
    env: { ...process.env, REELAY_BUILT: '1' },
  })
  run.child.stdin.end()
  const { code } = await run.exited
  const out = run.stdout().toString()
  expect(out).not.toContain('NOT MET')
  expect(out).toContain('met      no false "safe"')
  expect(code).toBe(0)
}, 120_000)
