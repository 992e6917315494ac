import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { installRunners, jest, newerNode, playwright, vitest5 } from '../../scripts/runners.mjs'
import { makeApp, runNode } from './runner-app.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

const QUERIES = "const QUERIES = (process.env.QUERIES ?? 'tea,milk').split(',')"
const LIVE = "live: { command: process.execPath, args: ['server.mjs'] }"
const FAIL = "if (process.env.FAIL) throw new Error('failed for another reason')"

const FILES = {
  'vitest.test.mjs': `import { expect, test } from 'vitest'
import { useTape } from 'reelay/vitest'
import { triage } from './agent.mjs'
${QUERIES}
test('triage', async () => {
  const tape = await useTape('triage', { ${LIVE} })
  await triage(await tape.transport(), QUERIES)
  ${FAIL}
  expect(tape).toHaveCalled('search', { query: QUERIES[0] })
})
`,
  'jest.test.cjs': `const { useTape } = require('reelay/jest')
const { triage } = require('./agent.cjs')
${QUERIES}
test('triage', async () => {
  const tape = await useTape('triage', { ${LIVE} })
  await triage(await tape.transport(), QUERIES)
  ${FAIL}
  expect(tape).toHaveCalled('search', { query: QUERIES[0] })
})
`,
  'esm.test.mjs': `import { useTape } from 'reelay/jest'
import { triage } from './agent.mjs'
${QUERIES}
test('triage', async () => {
  const tape = await useTape('triage', { ${LIVE} })
  await triage(await tape.transport(), QUERIES)
  ${FAIL}
  expect(tape).toHaveCalled('search', { query: QUERIES[0] })
})
`,
  'node.mjs': `import { test } from 'node:test'
import { expectTape, useTape } from 'reelay/node-test'
import { triage } from './agent.mjs'
${QUERIES}
test('triage', async (test) => {
  const tape = await useTape('triage', { test, ${LIVE} })
  await triage(await tape.transport(), QUERIES)
  ${FAIL}
  expectTape(tape).toHaveCalled('search', { query: QUERIES[0] })
})
`,
  'playwright.spec.mjs': `import { test as base, expect as baseExpect } from '@playwright/test'
import { tapeFixtures, tapeMatchers } from 'reelay/playwright'
import { triage } from './agent.mjs'
${QUERIES}
const [test, expect] = [base.extend(tapeFixtures), baseExpect.extend(tapeMatchers)]
test('triage', async ({ useTape }) => {
  const tape = await useTape('triage', { ${LIVE} })
  await triage(await tape.transport(), QUERIES)
  ${FAIL}
  expect(tape).toHaveCalled('search', { query: QUERIES[0] })
})
`,
  'many.test.mjs': `import { expect, test } from 'vitest'
import { useTape } from 'reelay/vitest'
import { triage } from './agent.mjs'
for (let nth = 0; nth < 20; nth++)
  test.concurrent('session ' + nth, async (test) => {
    const tape = await useTape({ test, ${LIVE} })
    await triage(await tape.transport(), ['tea ' + nth, 'milk ' + nth])
    expect(tape).toHaveCalledTimes('search', 2)
    expect(tape).toHaveCalled('search', { query: 'milk ' + nth })
  })
`,
  'concurrent.test.mjs': `import { test } from 'vitest'
import { useTape } from 'reelay/vitest'
test.concurrent('no context', async () => {
  await useTape({ ${LIVE} })
})
`,
  'controls.test.mjs': `import { expect, test } from 'vitest'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { useTape } from 'reelay/vitest'
test('faults', async () => {
  const tape = await useTape({ ${LIVE}, faults: [] })
  const client = new Client({ name: 'agent', version: '1' })
  await client.connect(await tape.transport())
  const stock = () => client.callTool({ name: 'stock', arguments: {} })
  expect((await stock()).structuredContent.count).toBe(7)
  tape.injectFaults({ tool: 'stock', nth: 1, error: { code: -32000, message: 'out of order' } })
  await expect(stock()).rejects.toThrow('out of order')
  tape.override({ tool: 'stock', result: { content: [], structuredContent: { count: 0 } } })
  expect((await stock()).structuredContent.count).toBe(0)
  await tape[Symbol.asyncDispose]()
  expect(tape.calls.map(({ tool }) => tool)).toEqual(['stock', 'stock', 'stock'])
  expect(Math.abs(tape.startedAt - Date.now())).toBeLessThan(600_000)
  expect(tape.shape()[0]).toEqual({ request: 'tools/call stock', arguments: {}, result: {
    content: [{ type: 'text', text: 'stock of tea: 7' }],
    structuredContent: { id: 'tea', count: 7, call: 1, at: '<time>' } } })
})
`,
  'jest.config.cjs': `module.exports = { testMatch: ['**/jest.test.cjs', '**/esm.test.mjs'], transform: {},
  moduleFileExtensions: ['cjs', 'mjs', 'js', 'json'] }
`,
}

let app: string
let withVitest5: string
beforeAll(() => {
  installRunners()
  app = makeApp(FILES)
  withVitest5 = makeApp(FILES, dirname(vitest5))
})
afterAll(() => {
  for (const folder of [app, withVitest5]) rmSync(folder, { recursive: true, force: true })
})

interface Runner {
  readonly name: string
  readonly args: readonly string[]
  readonly update: readonly string[]
  readonly node?: string
  readonly env?: Readonly<Record<string, string>>
}

const VITEST = resolve('node_modules/vitest/vitest.mjs')
const RUNNERS: readonly Runner[] = [
  { name: 'vitest 4', args: [VITEST, 'run', 'vitest.test.mjs'], update: ['-u'] },
  { name: 'vitest 5 on Node 24', args: [vitest5, 'run', 'vitest.test.mjs'], update: ['-u'], node: newerNode },
  { name: 'jest', args: [jest, 'jest.test.cjs'], update: ['-u'] },
  {
    name: 'jest with ES modules',
    args: ['--experimental-vm-modules', jest, 'esm.test.mjs'],
    update: ['-u'],
  },
  { name: 'node:test', args: ['--test', 'node.mjs'], update: [], env: { REELAY_MODE: 'update' } },
  {
    name: 'node:test on Node 24',
    args: ['--test-update-snapshots', '--test', 'node.mjs'],
    update: [],
    node: newerNode,
  },
  {
    name: 'Playwright',
    args: [playwright, 'test', 'playwright.spec.mjs', '--reporter=line'],
    update: ['-u'],
  },
]

test.each(RUNNERS)(
  '$name records once, replays without the server, and fails if a call differs',
  async ({ name, args, update, node, env }) => {
    const cwd = name.startsWith('vitest 5') ? withVitest5 : app
    const folder = join(cwd, '__tapes__')
    rmSync(folder, { recursive: true, force: true })
    const plain = args.filter((arg) => arg !== '--test-update-snapshots')
    const run = (more: Readonly<Record<string, string>>, words = plain): ReturnType<typeof runNode> =>
      runNode(words, { cwd, env: more, ...(node !== undefined && { node }) })
    const failing = await run({ FAIL: '1' })
    expect([failing.code === 0, existsSync(join(folder, 'triage.tape.jsonl'))]).toEqual([false, false])
    expect(await run({})).toMatchObject({ code: 0 })
    expect(readdirSync(folder)).toEqual(['triage.tape.jsonl'])
    const server = join(cwd, 'server.mjs')
    renameSync(server, `${server}.gone`)
    try {
      expect(await run({ CI: '1' })).toMatchObject({ code: 0 })
      // The message is made in one place, so that one runner shows all of them.
      const shown = Object.entries(MESSAGES).slice(0, name === 'vitest 4' ? 3 : 1)
      for (const [queries, message] of shown) {
        const { code, out } = await run({ CI: '1', QUERIES: queries })
        expect(code, `${name} ${queries}`).toBe(1)
        expect(withoutIndent(out)).toContain(withoutIndent(message))
      }
      // Only a removal: no server is needed.
      expect(await run({ QUERIES: 'tea', ...env }, [...args, ...update])).toMatchObject({ code: 0 })
      expect(readFileSync(join(folder, 'triage.tape.jsonl'), 'utf8')).not.toContain('milk')
    } finally {
      renameSync(`${server}.gone`, server)
    }
    expect(await run({ CI: '1', QUERIES: 'tea' })).toMatchObject({ code: 0 })
  },
)

/** What a user sees, by the queries that the agent sends. */
const MESSAGES = {
  tea: `the test differs from its tape __tapes__/triage.tape.jsonl

1 recorded exchange unused:
  #3 tools/call search {"query":"milk"}

to accept this, update the tape: `,
  'tea,beer': `the test differs from its tape __tapes__/triage.tape.jsonl

REPLAY MISS  tools/call search   tape: __tapes__/triage.tape.jsonl
why          ARGUMENT_DRIFT: same tool, 1 of 2 fields differs
request      tools/call search {"query":"beer"}
nearest      #3 of 2 candidates, distance 0.50, recorded ${new Date().toISOString().slice(0, 10)}, used 0 of 1 times
  ~ params.arguments.query   recorded "milk"   got "beer"
  = params.name
others       #2, distance 0.50, used 1 of 1 times
next         #3 tools/call search {"query":"milk"}
fixes        ignore the difference, from now on   reelay match add __tapes__/triage.tape.jsonl params.arguments.query --as ignore --tool search
                                                  (2 different recorded requests then match each other and are used in recorded order)
             for this run only                    useTape(tape, { ignore: ["params.arguments.query"] })
                                                  (2 different recorded requests then match each other and are used in recorded order)

to accept this, update the tape: `,
  'milk,tea': `the test differs from its tape __tapes__/triage.tape.jsonl

sent in another order than recorded:
  #3 tools/call search {"query":"milk"} was sent before #2 tools/call search {"query":"tea"}

to accept this, update the tape: `,
}

/** Each runner indents messages in its own way. */
function withoutIndent(text: string): string {
  return text.replaceAll(/^[ \t]+|[ \t]+$/gm, '').replaceAll(/\n{2,}/g, '\n')
}

test('concurrent tests each have their tape, and one without its context is told what to write', async () => {
  for (const env of [{ CI: '' }, { CI: '1' }]) {
    const { code, out } = await runNode([VITEST, 'run', 'many.test.mjs'], { cwd: app, env })
    expect({ code, passed: /Tests {2}20 passed/.test(out) }).toEqual({ code: 0, passed: true })
  }
  expect(readdirSync(join(app, '__tapes__', 'many'))).toHaveLength(20)
  const { code, out } = await runNode([VITEST, 'run', 'concurrent.test.mjs'], { cwd: app })
  expect(code).toBe(1)
  expect(out).toContain(
    "hint: write test.concurrent('…', async (test) => { const tape = await useTape('…', { test, … }) })",
  )
})

test('faults and overrides between calls work in the run that records and in replays', async () => {
  for (const env of [{ CI: '' }, { CI: '1' }]) {
    const { code, out } = await runNode([VITEST, 'run', 'controls.test.mjs', '-t', 'faults'], {
      cwd: app,
      env,
    })
    expect({ code, out }).toMatchObject({ code: 0 })
  }
})

test('REELAY_MODE overrides the modes of tests, says so, and refuses what it does not know', async () => {
  const again = await runInMode('rewrite')
  expect(again.out).toContain('reelay: REELAY_MODE=rewrite overrides the modes of all tests\n')
  expect(again.out).toContain('reelay: recorded __tapes__/triage.tape.jsonl\n')
  expect((await runInMode('rewrit')).out).toContain('REELAY_MODE=rewrit is not a mode; did you mean rewrite?')
})

function runInMode(mode: string): ReturnType<typeof runNode> {
  return runNode([VITEST, 'run', 'vitest.test.mjs'], { cwd: app, env: { REELAY_MODE: mode, CI: '1' } })
}
