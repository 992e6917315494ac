import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createRecording } from '../../src/record/recording.ts'
import { loadTape } from '../../src/store/file/read.ts'
import { ended, type Ended } from '../auto/program.ts'
import { fixtureServer, linesOf, REELAY, start, temporaryFolder, until } from '../support/recorder.ts'

/** A tape with three servers, each asked one thing; the answer of the first says what the second was told. */
async function threeServers(redact: false | object = {}): Promise<string> {
  const tape = join(temporaryFolder(), 'three.tape.jsonl')
  const recording = createRecording({ tape, redact })
  for (const server of ['github', 'gitlab', 'files']) {
    const link = recording.link({ server, info: { transport: 'in-process', command: [server] } })
    const secret = server === 'files' ? {} : { said: 'so xylophone-9 it is' }
    const told = server === 'gitlab' ? { password: 'xylophone-9' } : {}
    link.message('c2s', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: server, ...told } })
    link.message('s2c', { jsonrpc: '2.0', id: 1, result: { server, ...secret } })
    link.event('close')
  }
  await recording.close()
  return tape
}

const reelay = (...args: string[]): Promise<Ended> => ended([process.execPath, REELAY, ...args], {})

test('redact looks at the servers that are asked for, and knows a secret that another one was told', async () => {
  const tape = await threeServers(false)
  expect(await reelay('redact', tape, '--server', 'files')).toMatchObject({
    code: 0,
    stdout: `${tape}: no secrets\n`,
  })
  const found = await reelay('redact', tape, '--server', 'github')
  expect(found).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/: 1 secret in 1 of 4 frames\n {2}in frame 2\n/) as string,
  })
})

test.each(['redact', 'share'])(
  '%s copies the servers that are asked for, and nothing tells of the others',
  async (verb) => {
    const tape = await threeServers(false)
    const copy = join(dirname(tape), 'copy.tape.jsonl')
    const { code, stderr } = await reelay(verb, tape, '-o', copy, '--server', 'github, files')
    expect([code, stderr]).toEqual([0, ''])
    const text = readFileSync(copy, 'utf8')
    expect(text).not.toMatch(/gitlab|xylophone/)
    const { header, turns, ended: isWhole, problems } = await loadTape(copy)
    expect(Object.keys(header.servers)).toEqual(['github', 'files'])
    expect(turns.map(({ trigger }) => trigger?.server)).toEqual(['github', 'files'])
    expect([isWhole, problems]).toEqual([true, []])
    expect(linesOf(copy).at(-1)).toMatchObject({ frames: 8, servers: ['files'] })
  },
)

test('what was passed by, and what a rotated tape has from before, is counted anew for a part', async () => {
  const tape = await threeServers()
  const [header, ...frames] = linesOf(tape)
  const opening = [
    { t: 0, event: 'continued', frames: 2 },
    { t: 0, server: 'github', conn: 1, event: 'start' },
    { t: 0, server: 'files', conn: 1, event: 'start' },
    { t: 0, event: 'tunnelled', host: 'secret.example:443' },
    { t: 0, server: 'files', of: 'tomorrow' },
  ]
  const all = [
    ...opening,
    ...frames.slice(0, -1),
    { ...frames.at(-1), frames: frames.length + opening.length },
  ]
  const numbered = all.map((frame, at) => ({ ...frame, n: at + 1 }))
  const rotated = join(dirname(tape), 'rotated.tape.jsonl')
  writeFileSync(rotated, [header, ...numbered].map((line) => `${JSON.stringify(line)}\n`).join(''))
  const copy = join(dirname(tape), 'copy.tape.jsonl')
  expect((await reelay('redact', rotated, '-o', copy, '--server', 'files')).stderr).toBe('')
  expect(linesOf(copy).slice(1, 4)).toEqual([
    { n: 1, t: 0, event: 'continued', frames: 1 },
    { n: 3, t: 0, server: 'files', conn: 1, event: 'start' },
    { n: 5, t: 0, server: 'files', of: 'tomorrow' },
  ])
  expect((await loadTape(copy)).problems).toEqual([])
})

test.each([['redact'], ['share', '-o', 'copy.tape.jsonl'], ['stats'], ['inspect'], ['serve'], ['replay']])(
  '%s refuses a filter that no server fits, with the names that there are',
  async (verb, ...rest) => {
    const tape = await threeServers()
    const target = verb === 'replay' ? ['--', ...fixtureServer('answer-calls')] : []
    const { code, stderr } = await reelay(verb, tape, ...rest, '--server', 'nobody', ...target)
    expect(code).toBe(2)
    expect(stderr).toContain(`${tape} has no server "nobody"`)
    expect(stderr).toContain('hint: choose with --server from: github, gitlab, files')
  },
)

test('stats counts the calls of the servers that are asked for', async () => {
  const { stdout } = await reelay('stats', await threeServers(), '--json', '--server', 'git*')
  const { calls } = JSON.parse(stdout) as { calls: { call: string }[] }
  expect(calls.map(({ call }) => call)).toEqual(['all', 'tools/call github', 'tools/call gitlab'])
})

test('tail says when nobody fits the filter', async () => {
  const { stdout, stderr } = await reelay('tail', await threeServers(), '--server', 'nobody')
  expect(stdout.split('\n')).toHaveLength(2)
  expect(stderr).toBe('no server "nobody" had an exchange: choose from github, gitlab, files\n')
})

test('match list shows the rules that hold for a server', async () => {
  const tape = await threeServers()
  const add = (path: string, ...scope: string[]): Promise<Ended> =>
    reelay('match', 'add', tape, path, '--as', 'ignore', ...scope)
  await add('params.password', '--server', 'gitlab')
  await add('params.name', '--server', 'files')
  await add('params.other')
  const { stdout } = await reelay('match', 'list', tape, '--server', 'git*')
  expect(stdout).toBe('server=gitlab params.password ignore\nparams.other ignore\n')
  expect((await reelay('match', 'remove', tape, 'params.other')).code).toBe(0)
  const none = await reelay('match', 'list', tape, '--server', 'github')
  expect(none.stderr).toMatch(/^no rule beside .* applies to a server github\n$/)
})

test('serve is the one server that a pattern means, and never one of several', async () => {
  const tape = await threeServers()
  const serve = start([process.execPath, REELAY, 'serve', tape, '--server', 'f*'])
  serve.child.stdin.end('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"files"}}\n')
  expect((await serve.exited).code).toBe(0)
  expect(serve.stdout().toString()).toBe('{"jsonrpc":"2.0","id":7,"result":{"server":"files"}}\n')
  const several = await reelay('serve', tape, '--server', 'git*')
  expect(several.code).toBe(2)
  expect(several.stderr).toContain('has 2 servers that match "git*"')
  expect(several.stderr).toContain('hint: choose one with --server: github, gitlab')
})

test('over HTTP every server that a pattern means is served, and no other', async () => {
  const serve = start([process.execPath, REELAY, 'serve', await threeServers(), '--http', '--server', 'git*'])
  await until(() => serve.stderr().includes('/gitlab/mcp'))
  expect(serve.stderr()).toContain('/github/mcp')
  expect(serve.stderr()).not.toContain('/files/mcp')
  serve.child.kill('SIGTERM')
  await serve.exited
})

test('replay and verify play the client of the server that a pattern means', async () => {
  const tape = await threeServers()
  const live = ['--', ...fixtureServer('answer-calls')]
  for (const verb of ['replay', 'verify']) {
    const { stdout } = await reelay(verb, tape, '--server', 'f*', '--allow-writes', '--json', ...live)
    expect(stdout).toContain('"files"')
    expect(stdout).not.toContain('github')
  }
})
