import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fixtureServer, record, temporaryFolder } from '../support/recorder.ts'

test('the first lines of a tape, with what differs from run to run left out', async () => {
  const run = record(fixtureServer('answer-calls'), {
    env: { PATH: process.env['PATH'], REELAY_HOME: temporaryFolder() },
    options: ['--tag', 'a=b'],
  })
  run.child.stdin.write('{"method":"ping","jsonrpc":"2.0","id":0}\n')
  await run.line('result')
  run.child.stdin.end()
  await run.exited
  const steady = readFileSync(run.tape, 'utf8')
    .replace(/"id":"[0-9A-HJKMNP-TV-Z]{26}"/, '"id":"<ulid>"')
    .replace(/"started":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/, '"started":"<time>"')
    .replace(/"command":\[.*?\]/, '"command":<command>')
    .replaceAll(/"t":\d+(\.\d{1,3})?,/g, '"t":<t>,')
    .replace(/"key":"k-[0-9a-f]{8}"/, '"key":"<key>"')
    .replace(/"pid":\d+/, '"pid":<pid>')
  expect(steady).toMatchInlineSnapshot(`
    "{"reelay":1,"id":"<ulid>","started":"<time>","by":"reelay 0.1.0","servers":{"answer-calls":{"transport":"stdio","command":<command>,"env":[]}},"redaction":{"rules":"default-9","key":"<key>"},"tags":{"a":"b"}}
    {"n":1,"t":<t>,"server":"answer-calls","conn":1,"event":"start","pid":<pid>}
    {"n":2,"t":<t>,"server":"answer-calls","conn":1,"dir":"c2s","msg":{"method":"ping","jsonrpc":"2.0","id":0}}
    {"n":3,"t":<t>,"server":"answer-calls","conn":1,"dir":"s2c","msg":{"jsonrpc":"2.0","id":0,"result":{}}}
    {"n":4,"t":<t>,"server":"answer-calls","conn":1,"event":"eof","dir":"c2s"}
    {"n":5,"t":<t>,"server":"answer-calls","conn":1,"event":"exit","code":0}
    {"n":6,"t":<t>,"event":"end","frames":6}
    "
  `)
})
