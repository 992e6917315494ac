import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { REELAY, start, temporaryFolder } from '../support/recorder.ts'

test('serving a tape that is named and nothing more does not read the file of the other commands', async () => {
  const folder = temporaryFolder()
  const env = { ...process.env, MODULES_FILE: join(folder, 'modules.json') }
  const hook = ['--require', resolve('test/fixtures/list-modules.cjs')]
  const tape = resolve('test/fixtures/tapes/v1-first.tape.jsonl')
  const run = start([process.execPath, ...hook, REELAY, 'serve', tape], { env })
  run.child.stdin.end()
  await run.exited
  const loaded: readonly string[] = JSON.parse(readFileSync(env.MODULES_FILE, 'utf8'))
  expect(loaded).toContain('serve.js')
  expect(loaded).not.toContain('commands.js')
})
