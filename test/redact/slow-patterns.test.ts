import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readRedactionConfig } from '../../src/config/redaction-config.ts'
import { fixtureServer, linesOf, record, REELAY, start, temporaryFolder } from '../support/recorder.ts'

const configured = (config: string): string => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'reelay.config.yaml'), config)
  return folder
}

const request = (id: number, text: string): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method: 'm', params: { arguments: { text } } })}\n`

test.each([
  ['rules: [{ name: mine, pattern: "/(?:a+)+b/" }]', '"redaction.rules[0].pattern"', '(?:a+)+ repeats a+'],
  ['allow: ["/^(x|x)*$y/"]', '"redaction.allow[0]"', 'two alternatives of (x|x)*'],
])('the config %s is rejected with the pattern and the reason', (setting, place, reason) => {
  const folder = configured(`redaction:\n  ${setting}\n`)
  expect(() => readRedactionConfig(folder, 'ignore')).toThrow(place)
  expect(() => readRedactionConfig(folder, 'ignore')).toThrow(reason)
})

test('reelay redact --rule rejects a pattern that can take forever', async () => {
  const run = start([process.execPath, REELAY, 'redact', 'x', '--rule', '/(?:a+)+b/'])
  expect(await run.exited).toMatchObject({ code: 2 })
  expect(run.stderr()).toContain('can take forever: (?:a+)+ repeats a+')
})

test('a pattern that is slow in spite of the check costs one message, and SIGTERM is obeyed', async () => {
  const slow = `/${'a*'.repeat(9)}b!/`
  const cwd = configured(`redaction:\n  rules: [{ name: slow, pattern: "${slow}", keywords: [aaaa] }]\n`)
  const run = record(fixtureServer('repeat'), { cwd })
  run.child.stdin.write(request(1, 'password=Hunter2xyz'))
  await run.line('"id":1')
  run.child.stdin.write(request(2, `password=Hunter3xyz ${'a'.repeat(5000)}`)) // the search for secrets begins
  run.child.kill('SIGTERM')
  expect(await run.exited).toEqual({ code: null, signal: 'SIGTERM' })
  expect(run.stderr()).toMatch(/REDACTION_LIMIT \d messages? (?:is|are) withheld from the tape/)
  const lines = linesOf(run.tape)
  expect(lines).toContainEqual(
    expect.objectContaining({
      dir: 'c2s',
      cut: { bytes: expect.any(Number), id: 2, method: 'm' },
      raw: '',
      why: 'withheld: a pattern of the project takes too long',
    }),
  )
  expect(lines.at(-1)).toMatchObject({ event: 'end' })
  expect(readFileSync(run.tape, 'utf8')).not.toMatch(/Hunter|aaaa/)
})
