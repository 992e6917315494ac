import { appendFileSync, cpSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { installRunners, jest, newerNode, playwright, vitest5 } from '../../scripts/runners.mjs'
import { linesOf, start } from '../support/recorder.ts'
import { makeApp, runNode, withoutIndent } from './runner-app.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

const LIVE = "live: { command: process.execPath, args: ['server.mjs'] }"

interface TestFile {
  readonly head: string
  /** The parameter of a test function. */
  readonly context: string
  /** What useTape gets besides the live server. */
  readonly option?: string
  readonly check?: string
}

/** A test whose calls depend on QUERIES, one whose calls never change, and with FAIL one that fails after it has recorded. */
function testFile({ head, context, option = '', check = 'expect(tape)' }: TestFile): string {
  const agent = head.includes('require(')
    ? "const { triage } = require('./agent.cjs')"
    : "import { triage } from './agent.mjs'"
  const body = (
    name: string,
    queries: string,
    end: string,
  ): string => `test('${name}', async (${context}) => {
  const tape = await useTape('${name}', { ${option}${LIVE} })
  await triage(await tape.transport(), ${queries})
  ${end}
})
`
  return `${head}
${agent}
const QUERIES = (process.env.QUERIES ?? 'tea,milk').split(',')
${body('triage', 'QUERIES', `${check}.toHaveCalled('search', { query: QUERIES[0] })`)}
${body('steady', "['tea']", `${check}.toHaveNoErrors()`)}
if (process.env.FAIL) ${body('failing', "['tea']", "throw new Error('failed for another reason')")}`
}

const FILES = {
  'vitest.test.mjs': testFile({
    head: "import { expect, test } from 'vitest'\nimport { useTape } from 'reelay/vitest'",
    context: '',
  }),
  'jest.test.cjs': testFile({ head: "const { useTape } = require('reelay/jest')", context: '' }),
  'esm.test.mjs': testFile({ head: "import { useTape } from 'reelay/jest'", context: '' }),
  'node.mjs': testFile({
    head: "import { test } from 'node:test'\nimport { expectTape, useTape } from 'reelay/node-test'",
    context: 'test',
    option: 'test, ',
    check: 'expectTape(tape)',
  }),
  'playwright.spec.mjs': testFile({
    head: `import { test as base, expect as baseExpect } from '@playwright/test'
import { tapeFixtures, tapeMatchers } from 'reelay/playwright'
const [test, expect] = [base.extend(tapeFixtures), baseExpect.extend(tapeMatchers)]`,
    context: '{ useTape }',
  }),
  'command.test.mjs': `import { expect, test } from 'vitest'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { useTape } from 'reelay/vitest'
import { triage } from './agent.mjs'
const faults = [{ tool: 'search', nth: 1, error: { code: -32000, message: 'busy' } }]
test.each([['plain', {}], ['faulty', { faults }]])('%s', async (name, more) => {
  const tape = await useTape(name, { ${LIVE}, ...more })
  const { env, ...command } = await tape.command()
  const transport = new StdioClientTransport({ ...command, env: { ...process.env, ...env } })
  const failed = await triage(transport, (process.env.QUERIES ?? 'tea,tea').split(','))
  expect(failed).toEqual(name === 'plain' ? [] : ['MCP error -32000: busy'])
})
`,
  'sessions.test.mjs': `import { expect, test } from 'vitest'
import { readFileSync } from 'node:fs'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { useTape } from 'reelay/vitest'
import { triage } from './agent.mjs'
const WAYS = {
  transport: (tape) => tape.transport(),
  command: async (tape) => {
    const { env, ...command } = await tape.command()
    return new StdioClientTransport({ ...command, env: { ...process.env, ...env } })
  },
  url: async (tape) => new StreamableHTTPClientTransport(new URL(await tape.url())),
}
test.each(Object.entries(WAYS))('%s', async (name, open) => {
  const live = name === 'url' ? process.env.LIVE_URL : { command: process.execPath, args: ['server.mjs'] }
  const tape = await useTape(name, { ...(live && { live }) })
  for (const query of (process.env.QUERIES ?? 'tea,milk,tea').split(',')) await triage(await open(tape), [query])
})
`,
  'ends.test.mjs': `import { expect, test } from 'vitest'
import { useTape } from 'reelay/vitest'
import { triage } from './agent.mjs'
test('skipped', async ({ skip }) => {
  const tape = await useTape('skipped', { ${LIVE} })
  await triage(await tape.transport(), ['tea'])
  skip()
})
test('matchers in arguments', async () => {
  const tape = await useTape('matchers', { ${LIVE} })
  await triage(await tape.transport(), ['tea'])
  expect(tape).toHaveCalled('search', { query: expect.stringMatching(/^t/) })
  expect(tape).toHaveCalled('search', expect.objectContaining({ query: 'tea' }))
  expect(() => expect(tape).toHaveCalled('search', { query: expect.any(Number) })).toThrow(
    'expected the session to call search {"query":"Any<Number>"}; its calls:')
})
`,
  'jest-concurrent.test.cjs': `const { useTape } = require('reelay/jest')
const { triage } = require('./agent.cjs')
test.concurrent.each(['a', 'b', 'c'])('session %s', async (name) => {
  const tape = await useTape({ ${LIVE} })
  await triage(await tape.transport(), ['tea ' + name, 'milk ' + name])
  expect(tape).toHaveCalledTimes('search', 2)
  if (name === process.env.FAIL) throw new Error('failed for another reason')
})
`,
  'watched.test.mjs': `import { test } from 'vitest'
import { useTape } from 'reelay/vitest'
import { triage } from './agent.mjs'
test('watched', async () => {
  const tape = await useTape({ ${LIVE}, mode: 'rewrite' })
  await triage(await tape.transport(), ['tea'])
})
`,
  'typo.test.mjs': `import { test } from 'vitest'
import { useTape } from 'reelay/vitest'
test('typo', async () => void (await useTape({ ${LIVE}, mode: 'rewrit' })))
`,
  // What a replay in the same process must not do.
  'no-io.mjs': `import { ChildProcess } from 'node:child_process'
import { Server, Socket } from 'node:net'
for (const [prototype, name] of [[ChildProcess.prototype, 'spawn'], [Server.prototype, 'listen'], [Socket.prototype, 'connect']])
  prototype[name] = () => { throw new Error(name + ' was called') }
`,
  'many.test.mjs': `import { expect, test } from 'vitest'
import { useTape } from 'reelay/vitest'
import { triage } from './agent.mjs'
for (let nth = 0; nth < 10; nth++)
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
  // A busy machine is slower than the five seconds that these runners wait.
  'vitest.config.mjs': 'export default { test: { testTimeout: 60_000, hookTimeout: 60_000 } }\n',
  'jest.config.cjs': `module.exports = { testTimeout: 60_000, testMatch: ['**/jest*.test.cjs', '**/esm.test.mjs'], transform: {},
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
  /** Needs the newer Node. */
  readonly isNewer?: boolean
  readonly env?: Readonly<Record<string, string>>
}

const VITEST = resolve('node_modules/vitest/vitest.mjs')
const RUNNERS: readonly Runner[] = [
  { name: 'vitest 4', args: [VITEST, 'run', 'vitest.test.mjs'], update: ['-u'] },
  { name: 'vitest 5', args: [vitest5, 'run', 'vitest.test.mjs'], update: ['-u'], isNewer: true },
  { name: 'jest', args: [jest, '/jest.test.cjs'], update: ['-u'] },
  {
    name: 'jest with ES modules',
    args: ['--experimental-vm-modules', jest, 'esm.test.mjs'],
    update: ['-u'],
  },
  { name: 'node:test', args: ['--test', 'node.mjs'], update: [], env: { REELAY_MODE: 'update' } },
  {
    name: 'node:test with its own update option',
    args: ['--test-update-snapshots', '--test', 'node.mjs'],
    update: [],
    isNewer: true,
  },
  {
    name: 'Playwright',
    args: [playwright, 'test', 'playwright.spec.mjs', '--reporter=line'],
    update: ['-u'],
  },
]

/** `npm run runners` names several Node programs; the gate uses its own and a newer one. */
const NODES = process.env['REELAY_NODES']?.split(delimiter) ?? [process.execPath]
const MATRIX = NODES.flatMap((node) => RUNNERS.map((runner) => ({ ...runner, node: nodeFor(runner, node) })))

function nodeFor({ isNewer }: Runner, node: string): string {
  return isNewer ? (NODES.length > 1 ? (NODES.at(-1) ?? node) : newerNode) : node
}

test.each(MATRIX)(
  '$name records once, replays without the server, and fails if a call differs ($node)',
  async ({ name, args, update, node, env }) => {
    const cwd = name.startsWith('vitest 5') ? withVitest5 : app
    const folder = join(cwd, '__tapes__')
    rmSync(folder, { recursive: true, force: true })
    const plain = args.filter((arg) => arg !== '--test-update-snapshots')
    const run = (more: Readonly<Record<string, string>>, words = plain): ReturnType<typeof runNode> =>
      runNode(words, { cwd, env: more, node })
    expect(await run({ FAIL: '1' })).toMatchObject({ code: 1 })
    expect(readdirSync(folder)).toEqual(['steady.tape.jsonl', 'triage.tape.jsonl'])
    const server = join(cwd, 'server.mjs')
    renameSync(server, `${server}.gone`)
    try {
      // The message is made in one place, so that one runner shows all of them.
      const shown = Object.entries(MESSAGES).slice(0, name === 'vitest 4' ? 3 : 1)
      for (const [queries, message] of shown) {
        const { code, out } = await run({ CI: '1', QUERIES: queries })
        expect({ queries, code }).toEqual({ queries, code: 1 })
        const said = withoutIndent(out).replace(/recorded \d{4}-\d\d-\d\d/, 'recorded <date>')
        expect(said).toContain(withoutIndent(message))
        expect(out).toMatch(/\b(1 passed|pass 1)\b/) // the test that sends what was recorded
      }
      // Only a removal: no server is needed.
      expect(await run({ QUERIES: 'tea', ...env }, [...args, ...update])).toMatchObject({ code: 0 })
      expect(readFileSync(join(folder, 'triage.tape.jsonl'), 'utf8')).not.toContain('milk')
    } finally {
      renameSync(`${server}.gone`, server)
    }
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
nearest      #3 of 2 candidates, distance 0.50, recorded <date>, used 0 of 1 times
  ~ params.arguments.query   recorded "milk"   got "beer"
  = params.name
others       #2, distance 0.50, used 1 of 1 times
next         #3 tools/call search {"query":"milk"}
fixes        for this run only                    useTape(tape, { ignore: ["params.arguments.query"] })
                                                  (2 different recorded requests then match each other and are used in recorded order)
             ignore the difference, from now on   reelay match add __tapes__/triage.tape.jsonl params.arguments.query --as ignore --tool search
                                                  (2 different recorded requests then match each other and are used in recorded order)

to accept this, update the tape: `,
  'milk,tea': `the test differs from its tape __tapes__/triage.tape.jsonl

sent in another order than recorded:
  #3 tools/call search {"query":"milk"} was sent before #2 tools/call search {"query":"tea"}

to accept this, update the tape: `,
}

const MANY = ['many-1', 'many-2', 'many-3', 'many-4']

test('tests in several workers, concurrent ones too, each have their tape', async () => {
  for (const name of MANY) cpSync(join(app, 'many.test.mjs'), join(app, `${name}.test.mjs`))
  for (const env of [{ CI: '' }, { CI: '1' }]) {
    const { code, out } = await runNode([VITEST, 'run', 'many-', '--maxWorkers=4'], { cwd: app, env })
    expect({ code, passed: /Tests {2}40 passed/.test(out) }).toEqual({ code: 0, passed: true })
  }
  for (const name of MANY) expect(readdirSync(join(app, '__tapes__', name))).toHaveLength(10)
})

test('a concurrent test of Vitest without its context is told what to write', async () => {
  const { code, out } = await runNode([VITEST, 'run', 'concurrent.test.mjs'], { cwd: app })
  expect(code).toBe(1)
  expect(out).toContain(
    "hint: write test.concurrent('…', async (test) => { const tape = await useTape('…', { test, … }) })",
  )
})

test('concurrent tests of Jest each have their tape, and only the one that fails keeps none', async () => {
  expect(await runConcurrentInJest({ FAIL: 'b' })).toMatchObject({ code: 1 })
  const tapes = readdirSync(join(app, '__tapes__', 'jest-concurrent'))
  expect(tapes).toEqual(['session-a.tape.jsonl', 'session-c.tape.jsonl'])
  expect(await runConcurrentInJest({})).toMatchObject({ code: 0 })
  expect(await runConcurrentInJest({ CI: '1' })).toMatchObject({ code: 0 })
})

function runConcurrentInJest(env: Readonly<Record<string, string>>): ReturnType<typeof runNode> {
  return runNode([jest, 'jest-concurrent.test.cjs'], { cwd: app, env })
}

test('a replay in the same process starts no program and opens no socket', async () => {
  rmSync(join(app, '__tapes__'), { recursive: true, force: true })
  expect(await runNode(['node.mjs'], { cwd: app })).toMatchObject({ code: 0 })
  const replay = ['--import', './no-io.mjs', 'node.mjs']
  expect(await runNode(replay, { cwd: app, env: { CI: '1' } })).toMatchObject({ code: 0 })
  rmSync(join(app, '__tapes__'), { recursive: true, force: true })
  expect((await runNode(replay, { cwd: app })).out).toContain('spawn was called')
})

test('a command for a client that starts its server records, replays with faults, and reports what differs', async () => {
  for (const env of [{ CI: '' }, { CI: '1' }]) {
    const { code, out } = await runCommandTest(env)
    expect({ code, out }).toMatchObject({ code: 0 })
  }
  const { code, out } = await runCommandTest({ CI: '1', QUERIES: 'tea,beer' })
  expect(code).toBe(1)
  expect(out).toContain(
    'TapeDifferenceError: the test differs from its tape __tapes__/plain.tape.jsonl\n\nREPLAY MISS',
  )
  expect(out).toContain('request      tools/call search {"query":"beer"}')
})

function runCommandTest(env: Readonly<Record<string, string>>): ReturnType<typeof runNode> {
  return runNode([VITEST, 'run', 'command.test.mjs'], { cwd: app, env })
}

test('a live server that cannot start is named with its stderr, a miss is reported once, and the tape stays', async () => {
  const server = "args: [process.env.SERVER ?? 'server.mjs']"
  const file = `import { test } from 'vitest'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { useTape } from 'reelay/vitest'
const live = { command: process.execPath, ${server} }
const WAYS = {
  transport: (tape) => tape.transport(),
  command: async (tape) => new StdioClientTransport(await tape.command()),
}
test.each(Object.entries(WAYS))('%s', async (name, open) => {
  const tape = await useTape('broken-' + name, { live })
  const client = new Client({ name: 'agent', version: '1' })
  await client.connect(await open(tape))
  await client.callTool({ name: 'search', arguments: { query: process.env.QUERY ?? 'tea' } })
})
`
  const folder = makeApp({ 'broken.test.mjs': file })
  const tapes = join(folder, '__tapes__')
  const vitest = (env: Record<string, string>, ...more: string[]): ReturnType<typeof runNode> =>
    runNode([resolve('node_modules/vitest/vitest.mjs'), 'run', 'broken.test.mjs', ...more], {
      cwd: folder,
      env,
    })
  const { out } = await vitest({ SERVER: 'nowhere.mjs' })
  expect(out).toMatch(
    /MCP error -39502: reelay: the server ended with exit code 1: \S+ nowhere\.mjs\n[^]*Cannot find/,
  )
  expect(out).toMatch(
    /nothing was recorded: the server ended with exit code 1 and answered nothing: \S+ nowhere\.mjs/,
  )
  expect(await vitest({})).toMatchObject({ code: 0 })
  const before = readdirSync(tapes).map((name) => readFileSync(join(tapes, name), 'utf8'))
  expect(before).toHaveLength(2)
  const drifted = await vitest({ QUERY: 'coffee' })
  expect(drifted.out.match(/^REPLAY MISS {2}tools\/call search/gm)).toHaveLength(2)
  expect(drifted.out).not.toMatch(/reelay serve|reelay record|nothing was answered/)
  const updated = await vitest({ QUERY: 'coffee', SERVER: 'nowhere.mjs' }, '-u')
  expect(updated.out).toMatch(
    /the live server did not answer: the server ended with exit code 1: \S+ nowhere\.mjs/,
  )
  expect(readdirSync(tapes).map((name) => readFileSync(join(tapes, name), 'utf8'))).toEqual(before)
  rmSync(folder, { recursive: true, force: true })
})

test('one tape has several sessions of its test, one after another, and equal requests of each', async () => {
  const run = (env: Readonly<Record<string, string>>, names = '.'): ReturnType<typeof runNode> =>
    runNode([VITEST, 'run', 'sessions.test.mjs', '-t', names], { cwd: app, env })
  expect(await run({}, 'transport|command')).toMatchObject({ code: 0 })
  const served = ['serve', join(app, '__tapes__', 'transport.tape.jsonl'), '--http']
  const live = start([process.execPath, 'dist/cli/main.js', ...served], { env: process.env })
  const url = await vi
    .waitFor(() => expect(live.stderr()).toMatch(/http:.*\n/), 10_000)
    .then(() => /http:[^\s",]+/.exec(live.stderr())?.[0])
  expect(await run({ LIVE_URL: url ?? '' }, 'url')).toMatchObject({ code: 0 })
  live.child.kill()
  for (const name of ['transport', 'command', 'url'])
    expect(calledOn(join(app, '__tapes__', `${name}.tape.jsonl`))).toEqual(['tea', 'milk', 'tea'])
  const again = await run({ CI: '1' })
  expect(again).toMatchObject({ code: 0 })
  expect(again.out).not.toContain('left over')
  const { code, out } = await run({ CI: '1', QUERIES: 'tea,milk' })
  expect(code).toBe(1)
  expect(out.match(/1 recorded exchange unused:\n +#\d tools\/call search \{"query":"tea"\}/g)).toHaveLength(
    3,
  )
})

function calledOn(tape: string): readonly string[] {
  const sent = linesOf(tape).filter(({ dir }) => dir === 'c2s')
  return sent.flatMap((frame) => /"query":"(\w+)"/.exec(JSON.stringify(frame))?.[1] ?? [])
}

test('a skipped test keeps no tape, and arguments may be matchers', async () => {
  const { code, out } = await runNode([VITEST, 'run', 'ends.test.mjs'], { cwd: app })
  expect({ code, out }).toMatchObject({ code: 0 })
  expect(readdirSync(join(app, '__tapes__'))).toContain('matchers.tape.jsonl')
  expect(readdirSync(join(app, '__tapes__'))).not.toContain('skipped.tape.jsonl')
})

test('watch mode does not run a test again because its tape was written', async () => {
  const watching = start([process.execPath, VITEST, 'watch', 'watched.test.mjs'], {
    cwd: app,
    env: {
      ...process.env,
      VITEST: undefined,
      VITEST_WORKER_ID: undefined,
      NODE_ENV: undefined,
      CI: '',
      NO_COLOR: '1',
    },
  })
  await watching.line('Waiting for file changes')
  appendFileSync(join(app, 'watched.test.mjs'), '// changed\n')
  await watching.line('RERUN')
  await vi.waitFor(
    () =>
      expect(
        watching
          .stdout()
          .toString()
          .match(/Waiting for file changes/g),
      ).toHaveLength(2),
    20_000,
  )
  expect(watching.stdout().toString().match(/RERUN/g)).toHaveLength(1)
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

test('REELAY_MODE overrides the modes of tests, says so, and unknown modes are refused', async () => {
  const again = await runInMode('rewrite')
  expect(again.out).toContain('reelay: REELAY_MODE=rewrite overrides the modes of all tests\n')
  expect(again.out).toContain('reelay: recorded 3 exchanges to __tapes__/triage.tape.jsonl\n')
  expect((await runInMode('rewrit')).out).toContain('REELAY_MODE=rewrit is not a mode; did you mean rewrite?')
  const { out } = await runNode([VITEST, 'run', 'typo.test.mjs'], { cwd: app })
  expect(out).toContain("mode: 'rewrit' is not a mode; did you mean rewrite?")
})

function runInMode(mode: string): ReturnType<typeof runNode> {
  return runNode([VITEST, 'run', 'vitest.test.mjs'], { cwd: app, env: { REELAY_MODE: mode, CI: '1' } })
}
