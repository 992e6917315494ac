import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { reelay } from '../replay/reelay.ts'
import { fixtureServer, REELAY, start, temporaryFolder } from '../support/recorder.ts'
import { sharedFolder } from '../support/shared-folder.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 60_000 })

const program = (name: string, ...args: readonly string[]): readonly string[] => [
  process.execPath,
  resolve(`scripts/vary/${name}.mjs`),
  ...args,
]

interface Report {
  readonly runs: number
  readonly calls: number
  readonly held: readonly string[]
  readonly sent: Readonly<Record<string, number>>
  readonly probes?: { readonly sent: number; readonly untried: readonly string[] }
  readonly failures: readonly {
    readonly fails: string
    readonly call: string
    readonly summary: string
    readonly variation: readonly string[]
    readonly isConfirmed: boolean
    readonly rerun?: string
    readonly capsules: readonly string[]
    readonly shrunk?: { readonly messages: { readonly before: number; readonly after: number } }
  }[]
}

/** The bug shows only after a list was closed. */
const BUGGY = program('lists', 'add-after-close')
const folder = sharedFolder()
let tape = ''
beforeAll(() => {
  tape = join(folder, 'lists.tape.jsonl')
  const [file = '', ...args] = program('shopper')
  execFileSync(file, [...args, process.execPath, REELAY, 'record', '-q', '-o', tape, '--', ...BUGGY])
})

test('a bug that needs a state is found by variations, shrunk, and runs again as a capsule', async () => {
  const keep = join(temporaryFolder(), 'failures')
  const sarif = join(keep, 'vary.sarif')
  const run = await reelay(
    'vary',
    tape,
    '--allow-writes',
    '--failures',
    '1',
    '--for',
    '120s',
    '--keep',
    keep,
    '--json',
    '--report',
    `sarif=${sarif}`,
    '--',
    ...BUGGY,
  )
  expect(run.err).toBe('')
  expect(run.code).toBe(1)
  const { failures } = JSON.parse(run.out) as Report
  const [failure] = failures
  expect(failure).toMatchObject({
    fails: 'internal-error',
    call: 'tools/call add_item',
    summary: 'error -32603: something went wrong',
    isConfirmed: true,
  })
  const { before = 0, after = before } = failure?.shrunk?.messages ?? {}
  expect(after).toBeLessThan(before)
  const capsule = failure?.capsules[0] ?? ''
  const rerun = `reelay capsule run ${capsule} --allow create_list,add_item,close -- ${BUGGY.join(' ')}`
  expect(failure?.rerun).toBe(rerun)
  expect(resultsIn(sarif)).toMatchObject([
    { ruleId: 'vary-internal-error', properties: { reproduce: rerun } },
  ])
  expect(readFileSync(capsule, 'utf8')).toContain('--allow create_list,add_item,close --')
  const again = await reelay('capsule', 'run', capsule, '--allow-writes', '--', ...BUGGY)
  expect([again.code, again.out]).toEqual([
    1,
    'tools/call add_item still fails (run 1): error -32603: something went wrong\n',
  ])
  const fixed = await reelay(
    'capsule',
    'run',
    capsule,
    '--allow-writes',
    '--runs',
    '1',
    '--',
    ...program('lists', 'none'),
  )
  expect(fixed.code).toBe(0)
})

async function varied(seed: string): Promise<Report> {
  const keep = join(temporaryFolder(), 'failures')
  const limits = ['--variations', '6', '--for', '120s', '--no-shrink', '--seed', seed, '--keep', keep]
  const run = await reelay(
    'vary',
    tape,
    '--allow-writes',
    '--json',
    ...limits,
    '--',
    ...program('lists', 'none'),
  )
  expect([run.code, run.err, existsSync(keep)]).toEqual([0, '', false])
  return JSON.parse(run.out) as Report
}

test('the same seed makes the same variations, another seed makes others, and a correct server has no failure', async () => {
  const [one, same, other] = [await varied('3'), await varied('3'), await varied('4')]
  expect(one.runs).toBe(6)
  expect(same.calls).toBe(one.calls)
  expect(other.calls).not.toBe(one.calls)
})

test('calls that may write are not sent unless they are allowed', async () => {
  const run = await reelay('vary', tape, '--variations', '2', '--json', '--', ...BUGGY)
  expect([run.code, run.err]).toEqual([0, ''])
  const { held, sent } = JSON.parse(run.out) as Report
  expect(Object.keys(sent).filter((call) => call.startsWith('tools/call'))).toEqual(['tools/call show'])
  expect(held).toEqual(
    expect.arrayContaining(['add_item', 'close', 'create_list', 'export', 'page', 'remove_item', 'take']),
  )
})

test.each(['vary', 'isolate'])('%s goes to this machine only, unless the host is named', async (command) => {
  const run = await reelay(command, tape, '--url', 'http://192.0.2.1/mcp')
  expect(run.code).toBe(2)
  expect(run.err).toContain('to this machine only, and 192.0.2.1 is another one')
  expect(run.err).toContain('--target-allowed 192.0.2.1')
})

test('a recording that ends with a crash of the server is shrunk to the call that ends it', async () => {
  const careless = fixtureServer('careless')
  const path = join(temporaryFolder(), 'crash.tape.jsonl')
  const calls = JSON.stringify([
    ['read', { file: 'notes.txt' }],
    ['read', { file: 'crash' }],
  ])
  const [file = '', ...args] = program('caller', calls)
  expect(() =>
    execFileSync(file, [...args, process.execPath, REELAY, 'record', '-q', '-o', path, '--', ...careless], {
      stdio: 'ignore',
    }),
  ).toThrow('Command failed')
  const output = join(temporaryFolder(), 'small.tape.jsonl')
  const run = await reelay(
    'shrink',
    path,
    '--fails',
    'crash',
    '--no-capsule',
    '-o',
    output,
    '--',
    ...careless,
  )
  expect([run.err, run.code]).toEqual(['', 0])
  expect(run.out).toContain('crash: the server ended with exit code 7')
  expect(run.out).toContain('1 of 3 messages are needed')
})

/** Records a session of a note server, which goes on running. */
async function notesOf(leak: string): Promise<{ readonly url: string; readonly tape: string }> {
  const server = start(program('notes', leak))
  const url = (await server.line('http://')).trim()
  const path = join(temporaryFolder(), 'notes.tape.jsonl')
  const recorder = start([process.execPath, REELAY, 'record', '-o', path, '--url', url])
  const own = await vi.waitFor(
    () => {
      const found = recorder.stderr().match(/http:\/\/127\.0\.0\.1:\d+\/\S*/g) ?? []
      const other = found.find((each) => each !== url)
      if (other === undefined) throw new Error('the recorder does not listen yet')
      return other
    },
    { timeout: 30_000 },
  )
  const [file = '', ...args] = program('writer', own)
  execFileSync(file, args)
  recorder.child.kill('SIGINT')
  await recorder.exited
  return { url, tape: path }
}

test('a note that another session may read is a leak, with a capsule; a server that keeps its sessions apart has none', async () => {
  const keep = join(temporaryFolder(), 'failures')
  const leaky = await notesOf('note-of-anybody')
  const run = await reelay(
    'isolate',
    leaky.tape,
    '--allow-writes',
    '--rounds',
    '1',
    '--keep',
    keep,
    '--json',
    '--url',
    leaky.url,
  )
  expect([run.err, run.code]).toEqual(['', 1])
  const { failures } = JSON.parse(run.out) as Report
  expect(failures.map(({ fails, call }) => `${fails} ${call}`)).toEqual(['isolation tools/call get_note'])
  expect(failures[0]?.shrunk?.messages.after).toBe(2)
  const again = await reelay(
    'capsule',
    'run',
    failures[0]?.capsules[0] ?? '',
    '--allow-writes',
    '--url',
    leaky.url,
  )
  expect(again.code).toBe(1)
  const shared = await reelay(
    'isolate',
    leaky.tape,
    '--allow-writes',
    '--rounds',
    '1',
    '--shared',
    'get_note',
    '--keep',
    keep,
    '--url',
    leaky.url,
  )
  expect(shared.code).toBe(0)
  const clean = await notesOf('none')
  const fine = await reelay(
    'isolate',
    clean.tape,
    '--allow-writes',
    '--rounds',
    '2',
    '--keep',
    keep,
    '--url',
    clean.url,
  )
  expect([fine.err, fine.code]).toEqual(['', 0])
  expect(fine.out).toContain('no value of one session showed up in the other')
})

/** Records calls of the careless server. */
function carelessTape(...calls: readonly (readonly [string, object])[]): string {
  const path = join(temporaryFolder(), 'careless.tape.jsonl')
  const [file = '', ...args] = program('caller', JSON.stringify(calls))
  const recorder = [process.execPath, REELAY, 'record', '-q', '-o', path, '--', ...fixtureServer('careless')]
  execFileSync(file, [...args, ...recorder])
  return path
}

function resultsIn(sarif: string): readonly {
  readonly ruleId: string
  readonly level: string
  readonly properties?: { readonly reproduce: string }
}[] {
  return (JSON.parse(readFileSync(sarif, 'utf8')) as { runs: [{ results: ReturnType<typeof resultsIn> }] })
    .runs[0].results
}

const PROBED: readonly (readonly [string, object])[] = [
  ['read', { file: 'notes.txt' }],
  ['fetch', { url: 'http://127.0.0.1:9/' }],
]
const TOKEN = ['--header', 'Authorization: Bearer abc']

test('probes find a file outside of the folder, a request to this machine, and a server that any web page can use without the token', async () => {
  const keep = join(temporaryFolder(), 'failures')
  const server = start(fixtureServer('careless', '--http'))
  const url = (await server.line('http://')).trim()
  const limits = ['--probes', '--variations', '8', '--for', '120s', '--keep', keep, '--json']
  const run = await reelay('vary', carelessTape(...PROBED), ...limits, ...TOKEN, '--url', url)
  expect([run.err, run.code]).toEqual(['', 1])
  const found = (JSON.parse(run.out) as Report).failures.map(({ fails }) => fails)
  expect(new Set(found)).toEqual(
    new Set(['dns-rebinding', 'session-fixation', 'unauthenticated', 'traversal', 'ssrf']),
  )
  expect(readdirSync(keep).some((name) => name.endsWith('.capsule.html'))).toBe(true)
})

test('probes find nothing in a careful server, and name those that were not sent', async () => {
  const server = start(fixtureServer('careless', '--http', '--careful'))
  const url = (await server.line('http://')).trim()
  const path = carelessTape(...PROBED, ['search', { query: 'milk' }])
  const keep = join(temporaryFolder(), 'failures')
  const limits = ['--probes', '--variations', '3', '--keep', keep]
  const run = await reelay('vary', path, ...limits, ...TOKEN, '--url', url)
  expect([run.err, run.code, existsSync(keep)]).toEqual(['', 0, false])
  expect(run.out).toContain('no failure in 3 variations')
  expect(run.out).toMatch(
    /note: 3 probes were not tried, .*; tools\/call search \(#5 on the tape\) with arguments\.query: a text of 8 MB\n/,
  )
})

test('the capsule of a file outside of the folder writes its file again, and says so if it cannot be checked', async () => {
  const keep = join(temporaryFolder(), 'failures')
  const sarif = join(keep, 'probes.sarif')
  const careless = fixtureServer('careless')
  const path = carelessTape(['read', { file: 'notes.txt' }])
  const run = await reelay(
    'vary',
    path,
    '--probes',
    '--failures',
    '1',
    '--keep',
    keep,
    '--json',
    '--report',
    `sarif=${sarif}`,
    '--',
    ...careless,
  )
  expect([run.err, run.code]).toEqual(['', 1])
  const [failure] = (JSON.parse(run.out) as Report).failures
  expect(failure).toMatchObject({ fails: 'traversal', call: 'tools/call read', isConfirmed: true })
  expect(resultsIn(sarif)).toMatchObject([{ ruleId: 'probe-path-traversal', level: 'error' }])
  const capsule = failure?.capsules[0] ?? ''
  const again = await reelay('capsule', 'run', capsule, '--', ...careless)
  expect([again.code, again.out]).toEqual([
    1,
    'tools/call read still fails (run 1): the response contains a file outside of what the server offers\n',
  ])
  const fixed = await reelay('capsule', 'run', capsule, '--runs', '1', '--', ...careless, '--careful')
  expect([fixed.code, fixed.out]).toEqual([0, 'tools/call read does not fail any more (1 run)\n'])
  const offering = await reelay('capsule', 'run', capsule, '--', ...careless, '/')
  expect([offering.code, offering.out.split('\n')[0]]).toEqual([
    3,
    'tools/call read could not be checked: the server may read every folder in which a file could be hidden from it',
  ])
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('reelay-canary-'))).toEqual([])
})

test('an order to a model that a tool repeats is a warning, which does not fail the run', async () => {
  const keep = join(temporaryFolder(), 'failures')
  const sarif = join(keep, 'probes.sarif')
  const careless = fixtureServer('careless')
  const path = carelessTape(['search', { query: 'milk' }])
  const limits = ['--probes', '--variations', '1', '--keep', keep, '--report', `sarif=${sarif}`]
  const run = await reelay('vary', path, ...limits, '--', ...careless)
  expect([run.err, run.code]).toEqual(['', 0])
  expect(run.out).toMatch(
    /^1\. injection: tools\/call search: the result repeats an order to a model from an argument \(warning\)\n/,
  )
  expect(run.out).toMatch(/\n1 warning in 1 variation with /)
  expect(resultsIn(sarif)).toMatchObject([{ ruleId: 'probe-injection', level: 'warning' }])
})
