import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { createRecording } from '../../src/record/recording.ts'
import { ended, type Ended } from '../auto/program.ts'
import { REELAY, temporaryFolder } from '../support/recorder.ts'

let tape: string
beforeEach(async () => {
  tape = join(temporaryFolder(), 'calls.tape.jsonl')
  const recording = createRecording({ tape })
  const link = recording.link({ server: 'travel', info: { transport: 'in-process' } })
  const call = (id: number, name: string, city: string, outcome: object): void => {
    const params = { name, arguments: { city } }
    link.message('c2s', { jsonrpc: '2.0', id, method: 'tools/call', params })
    link.message('s2c', { jsonrpc: '2.0', id, ...outcome })
  }
  link.message('c2s', { jsonrpc: '2.0', method: 'notifications/roots/list_changed' })
  call(1, 'search', 'Oslo', { result: { structuredContent: { total: 140 } } })
  call(2, 'search', 'Bergen', { result: { structuredContent: { total: 7 } } })
  call(3, 'book', 'Oslo', { result: { isError: true, content: [{ type: 'text', text: 'sold out' }] } })
  call(4, 'search', 'Rome', { error: { code: -32602, message: 'unknown city' } })
  link.message('c2s', { jsonrpc: '2.0', id: 5, method: 'tools/list' })
  await recording.close()
})

test.each([
  ['tool:search', [1, 2, 4]],
  ['status:error', [3, 4]],
  ['status:pending', [5]],
  ['result.structuredContent.total > 100', [1]],
  ['params.arguments.city = Oslo -tool:book', [1]],
  ['"sold out" or error.code = -32602', [3, 4]],
  ['#2-3', [2, 3]],
  ['tool:nothing', []],
])('inspect and tail show the same exchanges for %s', async (filter, numbers) => {
  const { exchanges } = JSON.parse((await reelay('inspect', '--json', '--filter', filter)).stdout) as {
    exchanges: { sequence: number }[]
  }
  expect(exchanges.map(({ sequence }) => sequence)).toEqual(numbers)
  const followed = (await reelay('tail', '--json', '--filter', filter)).stdout.split('\n').slice(0, -1)
  expect(followed.map((line) => (JSON.parse(line) as { sequence: number }).sequence)).toEqual(numbers)
})

test('inspect --filter prints the usual table, with the numbers of the whole tape and nothing else', async () => {
  const { stdout } = await reelay('inspect', '--filter', 'tool:book or method:notifications/*')
  expect(stdout).toMatch(/^3 .*tools\/call book .*tool error: sold out {2}city=Oslo$/m)
  expect(stdout).toContain('notifications/roots/list_changed')
  expect(stdout).not.toContain('search')
})

test('an invalid filter is rejected with its position and the field that was meant', async () => {
  const { code, stderr } = await reelay('inspect', '--filter', 'tool:book statsu:ok')
  expect(code).toBe(2)
  expect(stderr).toContain('there is no field "statsu"; did you mean status?, at position 11')
  expect((await reelay('tail', '--filter', 're:/(a+)+b/')).stderr).toContain('can take very long')
})

function reelay(command: string, ...options: string[]): Promise<Ended> {
  return ended([process.execPath, REELAY, command, tape, ...options], {})
}
