import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { installPython, pythonPrograms } from '../../scripts/python.mjs'
import { makeApp, runProgram, withoutIndent } from '../testing/runner-app.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 600_000 })

let app: string
beforeAll(() => {
  installPython()
  app = makeApp({})
  for (const name of EXAMPLES) cpSync(join('examples', name), join(app, name), { recursive: true })
  for (const server of [
    'agent-offline-test/server.mjs',
    'poisoned-description/server.mjs',
    'python-agent/server.py',
  ])
    rmSync(join(app, server))
})
afterAll(() => rmSync(app, { recursive: true, force: true }))

const EXAMPLES = [
  'agent-offline-test',
  'server-regression-gate',
  'fault-test',
  'poisoned-description',
  'python-agent',
  'remote-server',
]

type Finished = Awaited<ReturnType<typeof runProgram>>

/** Runs a command of an example in CI. Where the system can do that, it has no network but its own loopback. */
function runExample(name: string, ...command: readonly string[]): Promise<Finished> {
  const PATH = [join(app, 'node_modules', '.bin'), pythonPrograms, process.env['PATH']].join(delimiter)
  return runProgram([...withoutNetwork(), ...command], { cwd: join(app, name), env: { CI: '1', PATH } })
}

let offline: readonly string[] | undefined
function withoutNetwork(): readonly string[] {
  const wrapper = ['unshare', '-rn', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
  const [, ...args] = [...wrapper, 'true']
  return (offline ??= spawnSync('unshare', args, { stdio: 'ignore' }).status === 0 ? wrapper : [])
}

// They are shell scripts and programs that `npx` finds.
describe.skipIf(process.platform === 'win32')('examples', () => {
  test('the test of an agent is green without its server', async () => {
    expect(await runExample('agent-offline-test', 'vitest', 'run')).toMatchObject({ code: 0 })
  })

  test('a test of faults is green', async () => {
    const { code, out } = await runExample('fault-test', 'node', '--test')
    expect({ code, passed: /^# pass 3$/m.test(out) }).toEqual({ code: 0, passed: true })
  })

  test('a poisoned tool description is found, and the reviewed one is not', async () => {
    const { code, out } = await runExample('poisoned-description', 'node', '--test')
    expect({ code, passed: /^# pass 2$/m.test(out) }).toEqual({ code: 0, passed: true })
  })

  test('the gate of a server passes, and names what another version changed', async () => {
    expect(await runExample('server-regression-gate', 'sh', 'check.sh')).toMatchObject({ code: 0 })
    edit(
      'server-regression-gate',
      'server.mjs',
      (text) => text.replace('milk: 1.2', 'milk: 1.3'),
      'dearer.mjs',
    )
    const { code, out } = await runExample('server-regression-gate', 'sh', 'check.sh', 'dearer.mjs')
    expect(code).toBe(1)
    expect(out).toMatch(/result\.structuredContent\.total {3}changed .*\n +recorded 1\.2\n +now {6}1\.3\n/)
  })

  test('a session with a remote server is recorded, shared and reproduced without it', async () => {
    const script = `node server.mjs > url & server=$!; trap 'kill $server' EXIT; until [ -s url ]; do sleep 0.1; done; sh debug.sh $(cat url)`
    const { code, out } = await runExample('remote-server', 'sh', '-c', script)
    expect(code).toBe(0)
    expect(out).toMatch(/^3 .* tools\/call forecast .* tool error: upstream says 503 {2}city=Bergen$/m)
    expect(out).toContain('reproduced without the server\n')
  })

  const URGENT = "    await call('add_label', { id: urgent.id, label: 'urgent' })\n"
  const LATER = "    for (const { id } of others) await call('add_label', { id, label: 'later' })\n"

  test.each([
    [
      'a deleted call',
      (agent: string) => agent.replace(LATER, ''),
      `TapeDifferenceError: the test differs from its tape __tapes__/triage.tape.jsonl

1 recorded exchange unused:
  #4 tools/call add_label {"id":9,"label":"later"}

to accept this, update the tape: vitest -u; to record it again: REELAY_MODE=rewrite
`,
    ],
    [
      'another argument',
      (agent: string) => agent.replace("'later'", "'soon'"),
      `TapeDifferenceError: the test differs from its tape __tapes__/triage.tape.jsonl

REPLAY MISS  tools/call add_label   tape: __tapes__/triage.tape.jsonl
why          ARGUMENT_DRIFT: same tool, 1 of 3 fields differs
request      tools/call add_label {"id":9,"label":"soon"}
nearest      #4 of 2 candidates, distance 0.33, recorded 2026-11-18, used 0 of 1 times
  ~ params.arguments.label   recorded "later"   got "soon"
  = params.name, params.arguments.id
others       #3, distance 0.50, used 1 of 1 times
next         #4 tools/call add_label {"id":9,"label":"later"}
fixes        for this run only                    useTape(tape, { ignore: ["params.arguments.label"] })
             ignore the difference, from now on   reelay match add __tapes__/triage.tape.jsonl params.arguments.label --as ignore --tool add_label

to accept this, update the tape: vitest -u; to record it again: REELAY_MODE=rewrite
`,
    ],
    [
      'another order',
      (agent: string) => agent.replace(URGENT + LATER, LATER + URGENT),
      `TapeDifferenceError: the test differs from its tape __tapes__/triage.tape.jsonl

sent in another order than recorded:
  #4 tools/call add_label {"id":9,"label":"later"} was sent before #3 tools/call add_label {"id":7,"label":"urgent"}

to accept this, update the tape: vitest -u; to record it again: REELAY_MODE=rewrite
`,
    ],
  ])('%s of an agent fails its test with a message that says which', async (_, change, message) => {
    const before = edit('agent-offline-test', 'agent.mjs', change)
    try {
      const { code, out } = await runExample('agent-offline-test', 'vitest', 'run')
      expect(code).toBe(1)
      expect(withoutIndent(out)).toContain(withoutIndent(message))
    } finally {
      edit('agent-offline-test', 'agent.mjs', () => before)
    }
  })

  test('a Python agent is tested with pytest, without its server', async () => {
    expect(await runExample('python-agent', 'pytest')).toMatchObject({ code: 0 })
  })

  test('the modes, URLs, faults and overrides of the pytest plugin work', async () => {
    cpSync('python/tests', join(app, 'python-agent', 'plugin'), { recursive: true })
    const tests = await runExample('python-agent', 'pytest', '-q', '--rootdir=plugin', 'plugin')
    expect(tests).toMatchObject({ code: 0 })
  })

  const PYTHON_URGENT = '            ("add_label", {"id": 7, "label": "urgent"}),\n'
  const PYTHON_LATER = '            ("add_label", {"id": 9, "label": "later"}),\n'

  test.each([
    [
      'a deleted call',
      (agent: string) => agent.replace(PYTHON_LATER, ''),
      `the test differs from its tape __tapes__/triage.tape.jsonl

1 recorded exchange unused:
  #5 tools/call add_label {"id":9,"label":"later"}

to accept this, record it again: pytest --record-mode=rewrite
`,
    ],
    [
      'another argument',
      (agent: string) => agent.replace('"later"', '"soon"'),
      `the test differs from its tape __tapes__/triage.tape.jsonl

REPLAY MISS  tools/call add_label   tape: <folder>/__tapes__/triage.tape.jsonl
why          ARGUMENT_DRIFT: same tool, 1 of 3 fields differs
request      tools/call add_label {"id":9,"label":"soon"}
nearest      #5 of 2 candidates, distance 0.33, recorded 2026-11-18, used 0 of 1 times
  ~ params.arguments.label   recorded "later"   got "soon"
  = params.name, params.arguments.id
others       #4, distance 0.50, used 1 of 1 times
next         #5 tools/call add_label {"id":9,"label":"later"}
fixes        ignore the difference, from now on   reelay match add <folder>/__tapes__/triage.tape.jsonl params.arguments.label --as ignore --tool add_label

to accept this, record it again: pytest --record-mode=rewrite
`,
    ],
    [
      'another order',
      (agent: string) => agent.replace(PYTHON_URGENT + PYTHON_LATER, PYTHON_LATER + PYTHON_URGENT),
      `the test differs from its tape __tapes__/triage.tape.jsonl

sent in another order than recorded:
  #5 tools/call add_label {"id":9,"label":"later"} was sent before #4 tools/call add_label {"id":7,"label":"urgent"}

to accept this, record it again: pytest --record-mode=rewrite
`,
    ],
  ])('%s of a Python agent fails its test with a message that says which', async (_, change, message) => {
    // The values that the agent returns are not what this test is about.
    const checks = edit('python-agent', 'test_agent.py', (text) => text.replace(/^ {4}assert .*\n/m, ''))
    const before = edit('python-agent', 'agent.py', change)
    try {
      const { code, out } = await runExample('python-agent', 'pytest')
      expect(code).toBe(1)
      expect(out.replaceAll(join(app, 'python-agent'), '<folder>')).toContain(message)
    } finally {
      edit('python-agent', 'agent.py', () => before)
      edit('python-agent', 'test_agent.py', () => checks)
    }
  })
})

/** Changes a file of an example, or writes the change to another one. Returns its earlier text. */
function edit(example: string, file: string, change: (text: string) => string, target = file): string {
  const before = readFileSync(join(app, example, file), 'utf8')
  const after = change(before)
  if (after === before) throw new Error(`${file} was not changed`)
  writeFileSync(join(app, example, target), after)
  return before
}
