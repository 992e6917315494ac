import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { fixtureServer, REELAY, start, temporaryFolder } from '../support/recorder.ts'

test('recording loads one packed file, so that it starts about as fast as Node does', async () => {
  const folder = temporaryFolder()
  const env = { ...process.env, MODULES_FILE: join(folder, 'modules.json') }
  const hook = ['--require', resolve('test/fixtures/list-modules.cjs')]
  const options = ['record', '-q', '-o', join(folder, 'x.tape.jsonl'), '--']
  const run = start([process.execPath, ...hook, REELAY, ...options, ...fixtureServer('answer-calls')], {
    env,
  })
  run.child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"m"}\n')
  expect((await run.exited).code).toBe(0)
  expect(JSON.parse(readFileSync(env.MODULES_FILE, 'utf8'))).toEqual(['main.js', 'record.js'])
})
