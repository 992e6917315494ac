import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { loadTape } from '../../src/store/file/read.ts'
import { member, parseJson } from '../../src/json/parse.ts'
import { fixtureServer, REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'
import { tapeFile } from '../serve/tape-file.ts'
import { callOf, client, HANDSHAKE, server } from '../support/tape-of.ts'
import { recordOrders } from './orders-tape.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const recorded = join(sharedFolder(), 'orders.tape.jsonl')

beforeAll(() => recordOrders(recorded))

test('the config of the project sets a run, and the command line counts for more', async () => {
  const cwd = folderWith(`replay:
  validation: { ignoreFields: [total] }
  transformations:
    - name: another item
      condition: { tool: create_order }
      action: { setParam: { path: $.arguments.item, value: '\${env.ITEM}' } }
`)
  const run = reelay(cwd, { ITEM: 'bread' })
  const changed = fixtureServer('orders', 'value')
  const set = ['--set', 'tools/call:create_order:$.arguments.item=milk']
  const byConfig = await run('verify', recorded, '--allow-writes', '--json', '--', ...changed)
  const byLine = await run('verify', recorded, '--allow-writes', ...set, '--', ...changed)
  const without = await run('verify', recorded, '--allow-writes', '--no-config', '--', ...changed)
  expect(pathsIn(byConfig.out)).toEqual([
    'result.structuredContent.order.item',
    'result.content[0].text.order.item',
    'result.structuredContent.order.item',
  ])
  expect([byConfig.code, byLine.code, without.code]).toEqual([1, 0, 1])
  expect(byLine.err).toContain(`reelay: using the config ${join(cwd, 'reelay.config.yaml')}`)
  expect(without.err).not.toContain('the config')
})

test.each(['validation: { enabled: false }', 'defaults: { validate_responses: false }'])(
  'responses are not compared if the config says %s, and --validate counts for more',
  async (setting) => {
    const run = reelay(folderWith(`replay:\n  ${setting}\n`))
    const changed = ['--allow-writes', '--repeat', '1', '--', ...fixtureServer('orders', 'value')]
    const [off, on] = await Promise.all([
      run('verify', recorded, ...changed),
      run('verify', recorded, '--validate', ...changed),
    ])
    expect(off.out).toMatch(/^verdict: none, because no response was compared$/m)
    expect([off.code, on.code]).toEqual([0, 1])
  },
)

test('a config at another place is named, and a broken one ends with 2 and its line', async () => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'other.yaml'), 'replay:\n  tolerance: { numeric: much }\n')
  const { code, err } = await reelay(cwd)('verify', recorded, '--config', 'other.yaml', '--', 'x')
  expect(code).toBe(2)
  expect(err).toContain(
    `${join(cwd, 'other.yaml')}, line 2, column 25: "replay.tolerance.numeric" is not a number of at least 0`,
  )
})

test('--keep-ids sends the recorded ids', async () => {
  const tape = join(temporaryFolder(), 'run.tape.jsonl')
  const args = ['--allow-writes', '--keep-ids', '--record', tape, '--', ...fixtureServer('orders')]
  expect((await reelay()('replay', recorded, ...args)).code).toBe(0)
  const [before, now] = [await idsOf(recorded), await idsOf(tape)]
  expect(now).toEqual(before)
})

test('--official-schema always fails a server that broke the schema all along; without it that is a note', async () => {
  const call = callOf(1, 'echo', {})
  const broken = server({ id: 1, result: { params: call['params'] } })
  const tape = tapeFile(...HANDSHAKE, client(call), broken)
  const args = ['--handshake', 'none', '--allow-writes', '--', ...fixtureServer('answer-calls')]
  const [noted, failed] = await Promise.all([
    reelay()('verify', tape, ...args),
    reelay()('verify', tape, '--official-schema', 'always', ...args),
  ])
  expect([noted.code, failed.code]).toEqual([0, 1])
  expect(noted.out).toContain(
    "note: tools/call echo breaks the official schema of 2025-11-25, as it did when it was recorded: result must have required property 'content'",
  )
  expect(failed.out).toContain(
    "schema    result   must have required property 'content' (official schema of 2025-11-25)",
  )
})

test.each([
  ['there is no terminal', {}, '--pace stepped needs a terminal, and stdin is not one'],
  ['it is CI', { CI: 'true' }, 'a stepped run needs a user at the terminal, and CI is set'],
])('--pace stepped is refused where %s, before anything is started', async (_, env, why) => {
  const folder = temporaryFolder()
  const tape = join(folder, 'run.tape.jsonl')
  const args = ['--pace', 'stepped', '--record', tape, '--', ...fixtureServer('orders')]
  const { code, err } = await reelay(folder, { CI: '', ...env })('replay', recorded, ...args)
  expect([code, err]).toEqual([2, expect.stringContaining(why)])
  expect(existsSync(tape)).toBe(false)
})

test('--strict makes an error of what is only a warning', async () => {
  const args = ['--allow-writes', '--repeat', '1', '--timeout', '5000']
  const slow = ['--', ...fixtureServer('orders', 'slow')]
  const [lax, strict] = await Promise.all([
    reelay()('verify', recorded, ...args, ...slow),
    reelay()('verify', recorded, ...args, '--strict', ...slow),
  ])
  expect(lax.out).toMatch(/warning +#\d+ +tools\/call describe/)
  expect([lax.code, strict.code]).toEqual([0, 1])
})

test('--ignore-field does not compare members of that name', async () => {
  const args = ['--allow-writes', '--ignore-field', 'total', '--', ...fixtureServer('orders', 'value')]
  expect((await reelay()('verify', recorded, ...args)).code).toBe(0)
})

test('--inject lets requests fail, and nothing reaches the server', async () => {
  const args = ['--inject', '1', '--inject-errors', 'network-error', '--allow-writes']
  const { code, out } = await reelay()('replay', recorded, ...args, '--', ...fixtureServer('orders'))
  expect(code).toBe(1)
  expect(out).toMatch(/lost +#\d+ +tools\/list .*injected: the network failed/)
  expect(out).not.toMatch(/^ok/m)
  expect(out).toMatch(
    /^0 of 3 responses as recorded, 3 differ \(transport 3\), 3 faults injected, 1 not sent for lack of a value$/m,
  )
  expect(out).toMatch(/^verdict: not as recorded$/m)
})

test('--faults takes the faults file of serve, and names a fault that only a server can cause', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'faults.yaml')
  const args = ['--faults', file, '--allow-writes', '--', ...fixtureServer('orders')]
  writeFileSync(file, 'faults:\n  - method: tools/list\n    http: 503\n')
  const { code, out } = await reelay()('replay', recorded, ...args)
  expect(code).toBe(1)
  expect(out).toMatch(/lost +#\d+ +tools\/list .*injected: the server answered with HTTP 503/)
  writeFileSync(file, 'faults:\n  - late: true\n')
  const refused = await reelay()('replay', recorded, ...args)
  expect(refused.code).toBe(2)
  expect(refused.err).toContain(`${file}:2:5: the fault "late" cannot be used here`)
})

test('--before-run is run before each run, and its failure keeps everything from being sent', async () => {
  const cwd = temporaryFolder()
  const note = `${JSON.stringify(process.execPath)} -e "require('fs').appendFileSync('runs', process.env.REELAY_RUN + ' ')"`
  const target = ['--allow-writes', '--', ...fixtureServer('orders', 'value')]
  const changed = await reelay(cwd)('verify', recorded, '--repeat', '2', '--before-run', note, ...target)
  expect(changed.code).toBe(1)
  expect(readFileSync(join(cwd, 'runs'), 'utf8')).toBe('1 2 ')
  const failed = await reelay(cwd)('verify', recorded, '--before-run', 'exit 4', ...target)
  expect(failed.code).toBe(3)
  expect(failed.err).toMatch(/BEFORE_RUN_FAILED --before-run "exit 4" ended with 4/)
  expect(failed.out).toBe('')
})

test('--on-error pause stops where there is no terminal to ask at', async () => {
  const args = ['--allow-writes', '--on-error', 'pause', '--', ...fixtureServer('orders', 'value')]
  const { code, out, err } = await reelay()('verify', recorded, ...args)
  expect(code).toBe(1)
  expect(err).toMatch(/step 4 \(tools\/call\) is not as recorded, and there is no terminal to ask/)
  expect(out).toMatch(/skipped +#\d+ +tools\/call describe +the run was stopped/)
  expect(out).not.toContain('run 2:')
})

test('--update-timestamps moves points in time that are sent', async () => {
  const folder = temporaryFolder()
  const [tape, run] = [join(folder, 'dated.tape.jsonl'), join(folder, 'run.tape.jsonl')]
  const dated = readFileSync(recorded, 'utf8').replace('{"item":"milk"}', '{"item":"2020-01-01T00:00:00Z"}')
  writeFileSync(tape, dated)
  const target = ['--', ...fixtureServer('orders')]
  await reelay()('replay', tape, '--allow-writes', '--update-timestamps', '--record', run, ...target)
  const [sent] = /"arguments":\{"item":"20.*?Z"\}/.exec(readFileSync(run, 'utf8')) ?? []
  expect(sent).toMatch(/"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/)
})

test('a tape is found by its name in the tape folder', async () => {
  const home = temporaryFolder()
  mkdirSync(join(home, 'tapes'))
  copyFileSync(recorded, join(home, 'tapes', 'shop.tape.jsonl'))
  const run = reelay(undefined, { REELAY_HOME: home })
  expect((await run('verify', 'shop', '--allow-writes', '--', ...fixtureServer('orders'))).code).toBe(0)
})

test('a dry run as JSON tells each message with its times and what it waits for', async () => {
  const { out } = await reelay()(
    'replay',
    recorded,
    '--dry-run',
    '--json',
    '--pace',
    '10ms',
    '--allow-writes',
  )
  const messages = member(parseJson(out), 'messages')
  expect(messages).toMatchObject([
    { index: 0, fate: { kind: 'skip' }, due: 0 },
    { index: 1, fate: { kind: 'skip' }, due: 10 },
    { index: 2, fate: { kind: 'send' }, due: 20, message: { method: 'tools/list' } },
    { index: 3, tool: 'create_order', due: 30, dependencies: [2] },
    { index: 4, tool: 'get_order', due: 40, dependencies: [3] },
    { index: 5, tool: 'describe', due: 50, dependencies: [4] },
  ])
})

test.each([
  [['--inject', '2'], /invalid number "2" for --inject/],
  [['--inject', '1', '--inject-errors', 'bad-luck'], /invalid value "bad-luck" for --inject-errors/],
  [['--config', 'no-such.yaml'], /no-such\.yaml cannot be read/],
])('misuse ends with 2 and a hint: %j', async (args, message) => {
  const { code, err } = await reelay()('replay', recorded, ...args, '--', 'x')
  expect([code, err]).toEqual([2, expect.stringMatching(message)])
  expect(err).toMatch(/hint: /)
})

interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function reelay(cwd?: string, env: NodeJS.ProcessEnv = {}): (...args: readonly string[]) => Promise<Ended> {
  return async (...args) => {
    const options = { env: { ...process.env, ...env }, ...(cwd !== undefined && { cwd }) }
    const run = start([process.execPath, REELAY, ...args], options)
    run.child.stdin.end()
    const { code } = await run.exited
    return { code, out: run.stdout().toString(), err: run.stderr() }
  }
}

function folderWith(config: string): string {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'reelay.config.yaml'), config)
  return folder
}

/** Where the findings of a report are. */
function pathsIn(report: string): readonly unknown[] {
  const steps = member(parseJson(report), 'steps')
  return (Array.isArray(steps) ? steps : []).flatMap((step: unknown) => {
    const findings = member(step, 'findings')
    return Array.isArray(findings) ? findings.map((finding: unknown) => member(finding, 'path')) : []
  })
}

async function idsOf(path: string): Promise<readonly unknown[]> {
  const { turns } = await loadTape(path)
  return turns.flatMap(({ trigger }) => (trigger?.message.kind === 'request' ? [trigger.message.id] : []))
}
