import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { fixtureServer, temporaryFolder } from '../support/recorder.ts'
import { reelay } from './reelay.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { recordOrders } from './orders-tape.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const recorded = join(sharedFolder(), 'orders.tape.jsonl')
const server = ['--allow-writes', '--', ...fixtureServer('orders')]

beforeAll(() => recordOrders(recorded))

test('--record says where the tape of the run is, and refuses one that exists', async () => {
  const tape = join(temporaryFolder(), 'run.tape.jsonl')
  const first = await reelay('replay', recorded, '--record', tape, ...server)
  const second = await reelay('replay', recorded, '--record', tape, ...server)
  expect(first.err).toContain(`reelay: the tape of this run is ${tape}\n`)
  expect([second.code, second.err]).toEqual([2, expect.stringContaining(`${tape} exists`)])
  const { header } = await loadTape(tape)
  expect(header.servers).toMatchObject({ server: { transport: 'stdio', command: fixtureServer('orders') } })
})

test('a tape or a report that cannot be written is told of, and what was found is printed all the same', async () => {
  const file = join(temporaryFolder(), 'a-file')
  writeFileSync(file, '')
  const run = await reelay('replay', recorded, '--record', join(file, 'run.tape.jsonl'), ...server)
  expect(run.err).toMatch(/reelay: there is no tape of this run: .*not a (folder|directory)/)
  const { code, out, err } = await reelay('replay', recorded, '-o', join(file, 'report.json'), ...server)
  expect([code, out.includes('verdict: as recorded')]).toEqual([3, true])
  expect(err).toMatch(/REPORT_UNWRITABLE/)
})

test('--report prints one format and writes others to files, as --json, -o and --results do', async () => {
  const folder = temporaryFolder()
  const [json, results, text] = ['a.json', 'b.json', 'c.txt'].map((name) => join(folder, name))
  const reports = ['--report', `json=${json}`, '--report', `results=${results}`, '--report', `text=${text}`]
  const printed = await reelay('replay', recorded, '--report', 'json', ...reports, ...server)
  expect([printed.code, JSON.parse(printed.out)]).toMatchObject([0, { summary: { verdict: 'pass' } }])
  expect(readFileSync(json ?? '', 'utf8')).toBe(printed.out)
  expect(JSON.parse(readFileSync(results ?? '', 'utf8'))).toMatchObject({ results: expect.any(Array) })
  expect(readFileSync(text ?? '', 'utf8')).toMatch(/^verdict: as recorded$/m)
  const two = await reelay('replay', recorded, '--json', '--report', 'results', ...server)
  expect([two.code, two.err]).toEqual([2, expect.stringContaining('only one report can be printed')])
})

test.each([
  ['--header', 'a: b', '--url'],
  ['--sse', undefined, '--url'],
  ['--priority', 'tools/call=1', '--order priority'],
  ['--seed', '7', '--order random or --inject or --faults'],
  ['--inject-errors', 'timeout', '--inject'],
])('%s, which would have no effect, is refused', async (option, value, needs) => {
  const { code, err } = await reelay('replay', recorded, option, ...(value ? [value] : []), ...server)
  expect([code, err.split('\n', 1)]).toEqual([2, [`reelay: USAGE ${option} has no effect without ${needs}`]])
})

test('what another answer on the tape does not settle is not accepted', async () => {
  const tape = join(temporaryFolder(), 'orders.tape.jsonl')
  copyFileSync(recorded, tape)
  const before = readFileSync(tape, 'utf8')
  const silent = ['--allow-writes', '--', ...fixtureServer('orders', 'progress')]
  const { code, out } = await reelay('verify', tape, '--repeat', '1', '--update', ...silent)
  expect([code, /^kept +#\d+ tools\/call get_order$/m.test(out)]).toEqual([1, true])
  expect(readFileSync(tape, 'utf8')).toBe(before)
})

test('without validation there is no verdict', async () => {
  const args = ['--no-validate', '--allow-writes', '--', ...fixtureServer('orders', 'value')]
  const { code, out } = await reelay('replay', recorded, ...args)
  expect([code, out.trimEnd().split('\n').at(-1)]).toEqual([
    0,
    'verdict: none, because no response was compared',
  ])
})

test('the bindings that inspect prints can be kept beside the tape by the shell, and an error names the file', async () => {
  const folder = temporaryFolder()
  const tape = join(folder, 'orders.tape.jsonl')
  const file = join(folder, 'orders.bindings.yaml')
  copyFileSync(recorded, tape)
  writeFileSync(file, '') // as a shell does before it starts the command
  const { code, out } = await reelay('inspect', tape, '--bindings-file')
  expect([code, out.startsWith('bind:\n')]).toEqual([0, true])
  writeFileSync(file, 'bind: 3\n')
  for (const args of [
    ['inspect', tape, '--bindings'],
    ['verify', tape, ...server],
  ])
    expect((await reelay(...args)).err).toContain(`${file}: cannot use the bindings: "bind" must be a list`)
})
