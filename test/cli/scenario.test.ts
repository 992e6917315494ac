import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { reelay } from '../replay/reelay.ts'

vi.setConfig({ testTimeout: 60_000 })

const CATALOGUE = ['--', process.execPath, 'test/fixtures/servers/catalogue.mjs']
const ORDERS = ['--', process.execPath, 'test/fixtures/servers/orders.mjs']
const folder = mkdtempSync(join(tmpdir(), 'reelay-scenario-'))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

test('a scenario carries captured values to later calls, and makes a tape that verifies', async () => {
  const scenario = file(
    'orders.yaml',
    `steps:
  - call: create_order
    args: { item: tea }
    expect:
      structuredContent.order.item: tea
      structuredContent.order.total: { type: number }
      text: { matches: '^Created order [0-9a-f-]{36}$' }
    capture: { id: structuredContent.order.id }
  - call: get_order
    args: { orderId: '\${id}' }
    expect: { structuredContent.order.total: 42 }
`,
  )
  const tape = join(folder, 'orders.tape.jsonl')
  const ran = await reelay('scenario', 'run', scenario, '--record', tape, ...ORDERS)
  expect(ran).toMatchObject({ code: 0 })
  expect(ran.out).toContain('2 of 2 calls as expected\n')
  expect(await reelay('verify', tape, '--allow-writes', ...ORDERS)).toMatchObject({ code: 0 })
})

test('a value in a text that is JSON is expected and captured by its path', async () => {
  const scenario = file(
    'json-text.yaml',
    `steps:
  - call: echo
    args: { order: { id: o-1, total: 42 } }
    expect: { text.order.total: 42 }
    capture: { id: text.order.id }
  - { call: echo, args: { again: '\${id}' }, expect: { text.again: o-1 } }
  - { call: echo, args: { order: {} }, capture: { id: text.order.id } }
`,
  )
  const echo = ['--', process.execPath, 'test/fixtures/servers/echo-arguments.mjs']
  const { code, out } = await reelay('scenario', 'run', scenario, ...echo)
  expect(code).toBe(1)
  expect(out).toContain('nothing to capture as id at text.order.id')
  expect(out).toContain('2 of 3 calls as expected')
})

test('a scenario names each value that is not as expected, and what it could not call', async () => {
  const scenario = file(
    'wrong.yaml',
    `steps:
  - { call: stock, args: { id: tea }, expect: { structuredContent.count: 8, text: { contains: milk } } }
  - { call: order, args: { id: gone }, capture: { order: structuredContent.order } }
  - { call: order, args: { id: '\${order}' } }
  - { call: order, args: { id: gone }, expect: { isError: true } }
  - { call: nothing }
`,
  )
  const { code, out } = await reelay('scenario', 'run', scenario, ...CATALOGUE)
  expect(code).toBe(1)
  expect(out.replaceAll(/\d+ ms/g, '- ms')).toBe(`  1  failed  stock  - ms
      structuredContent.count is 7, expected 8
      text is "stock of tea: 7", expected with "milk"
  2  failed  order  - ms
      failed: sold out
      nothing to capture as order at structuredContent.order
  3  failed  order  - ms
      not called: no earlier call has captured order
  4  ok      order  - ms
  5  failed  nothing  - ms
      answered with error -32602: unknown: nothing
1 of 5 calls as expected
`)
})

test.each([
  ['steps: 1', 'it has no list "steps"'],
  ['steps: [{ cal: x }]', 'there is no key cal'],
  ['steps: [{ args: {} }]', '"call" has to name a tool'],
  ["steps: [{ call: x, expect: { text: { matches: '(a+)+$' } } }]", 'could take forever'],
])('the scenario %j is refused before anything is called', async (text, why) => {
  const { code, err } = await reelay('scenario', 'run', file('bad.yaml', text), ...CATALOGUE)
  expect({ code, says: err.includes(why) }).toEqual({ code: 2, says: true })
})

test('propose calls read-only tools only, keeps what is stable, and its draft passes', async () => {
  const draft = join(folder, 'draft.yaml')
  const made = await reelay('propose', '-o', draft, ...CATALOGUE)
  expect(made.err).toContain('2 calls, 1 tools not called; written to')
  expect(readFileSync(draft, 'utf8'))
    .toBe(`# Calls of read-only tools, and what was equal in two calls. Change it as you like.
steps:
  - call: search
    args:
      query: tea
    expect:
      content[0].type: text
      content[0].text: '{"query":"tea"}'
      structuredContent.query: tea
  - call: stock
    args: {}
    expect:
      content[0].type: text
      content[0].text: "stock of tea: 7"
      structuredContent.id: tea
      structuredContent.count: 7
    # differs from call to call: structuredContent.call, structuredContent.at
# Not called:
#   order: it may write: it is not marked as read-only
`)
  expect(await reelay('scenario', 'run', draft, ...CATALOGUE)).toMatchObject({ code: 0 })
  expect((await reelay('propose', '-o', draft, ...CATALOGUE)).err).toContain('exists')
})
