import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { MAIN } from '../serve/serve-process.ts'
import { fileBeside, tapeFile } from '../serve/tape-file.ts'
import { call, HANDSHAKE, type Said } from '../support/tape-of.ts'

const SESSION: readonly Said[] = [
  ...HANDSHAKE,
  ...call(1, 'search', { q: 'cats' }, 'cats'),
  ...call(2, 'search', { q: 'dogs' }, 'dogs'),
  ...call(3, 'count', {}, 'one'),
]
const FAULTS = `faults:
  - tool: search
    nth: 2
    http: 429
  - method: tools/call
    error: { code: -32000, message: overloaded }
  - tool: never
    timeout: true
`

test('inspect says in words which recorded requests each fault would strike', async () => {
  const path = tapeFile(...SESSION)
  const { stdout, stderr } = await inspect(path, '--faults', fileBeside(path, 'faults.yaml', FAULTS))
  expect(stderr).toBe('')
  expect(stdout).toMatchInlineSnapshot(`
    "1. each call of search (number 2 only) is answered with HTTP 429
       #3 tools/call search {"q":"dogs"}
    2. each tools/call is answered with error -32000 "overloaded"
       #2 tools/call search {"q":"cats"}
       #4 tools/call count {}
    3. each call of never is never answered
       applies to no request of this tape
    "
  `)
})

test('the same as JSON, for programs', async () => {
  const path = tapeFile(...SESSION)
  const file = fileBeside(path, 'faults.yaml', 'faults: [{ probability: 0.5, duplicate: true }]')
  const [first, again, other] = [
    await inspect(path, '--json', '--faults', file),
    await inspect(path, '--json', '--faults', file, '--seed', '1'),
    await inspect(path, '--json', '--faults', file, '--seed', '6'),
  ]
  expect(JSON.parse(first.stdout)).toEqual({
    faults: [{ fault: 'each request (with probability 0.5) is answered twice', strikes: expect.any(Array) }],
  })
  expect(again.stdout).toBe(first.stdout)
  expect(other.stdout).not.toBe(first.stdout)
})

function inspect(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, [MAIN, 'inspect', ...args])
}
